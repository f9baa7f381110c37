"""Small models of many architectures, made on the spot with random weights and a tokenizer trained on a few lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from tokenizers import Tokenizer, processors

LINES = [
    "The kitchen tap is leaking again.",
    "Empires rise slowly and collapse quickly.",
    "Кухонный кран снова течёт.",
    "El grifo de la cocina vuelve a gotear.",
    "रसोई का नल फिर से टपक रहा है।",
    "Vòi nước trong bếp lại bị rò rỉ.",
    "厨房的水龙头又漏水了。",
    "صنبور المطبخ يسرب الماء مرة أخرى.",
    "Don't feed the monkeys, please!",
    "In 1960 this district was nothing but fields and orchards.",
]


def trained(name: str) -> Tokenizer:
    """A tokenizer trained on `LINES` once, with 400 pieces (500 if byte-level), and kept.

    It is not trained again in every run: the trainers of WordPiece and Unigram pieces break ties at random, so a model
    with the same seed would read the same sentence differently from run to run.
    """
    return Tokenizer.from_file(str(Path(__file__).parent / "vocabularies" / f"{name}.json"))


def wordpiece() -> Tokenizer:
    return trained("wordpiece")


def sentencepiece() -> Tokenizer:
    """A Unigram model with the metaspace, as XLM-R, T5 and DeBERTa-v3 have."""
    return trained("sentencepiece")


def byte_level(*, bos: bool = True) -> Tokenizer:
    """Byte-level BPE, as GPT-2, Llama 3, Qwen and ModernBERT have: any text can be spelled."""
    tokenizer = trained("byte_level")
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return tokenizer


def _save(model: torch.nn.Module, tokenizer: Tokenizer, folder: Path, **names: str) -> Path:
    from transformers import PreTrainedTokenizerFast

    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return folder


_BERT_NAMES = {
    "unk_token": "[UNK]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
_SP_NAMES = {
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "mask_token": "<mask>",
}
_BYTE_NAMES = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
_SMALL = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}


def bert(folder: Path, *, seed: int = 0, positions: int = 128, **sizes: int) -> Path:
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(seed)
    tokenizer = wordpiece()
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=positions, pad_token_id=0, **{**_SMALL, **sizes}
    )
    return _save(BertForMaskedLM(config), tokenizer, folder, **_BERT_NAMES)


def distilbert(folder: Path) -> Path:
    from transformers import DistilBertConfig, DistilBertModel

    torch.manual_seed(1)
    tokenizer = wordpiece()
    config = DistilBertConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=128, dim=32, n_layers=3, n_heads=4, hidden_dim=64
    )
    return _save(DistilBertModel(config), tokenizer, folder, **_BERT_NAMES)


def electra(folder: Path) -> Path:
    """Its embeddings are narrower than its hidden states."""
    from transformers import ElectraConfig, ElectraModel

    torch.manual_seed(10)
    tokenizer = wordpiece()
    config = ElectraConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=128, embedding_size=16, pad_token_id=0, **_SMALL
    )
    return _save(ElectraModel(config), tokenizer, folder, **_BERT_NAMES)


def xlm_roberta(folder: Path) -> Path:
    from transformers import XLMRobertaConfig, XLMRobertaForMaskedLM

    torch.manual_seed(2)
    tokenizer = sentencepiece()
    config = XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=130, pad_token_id=1, **_SMALL
    )
    return _save(XLMRobertaForMaskedLM(config), tokenizer, folder, **_SP_NAMES)


def deberta(folder: Path) -> Path:
    from transformers import DebertaV2Config, DebertaV2Model

    torch.manual_seed(3)
    tokenizer = sentencepiece()
    config = DebertaV2Config(
        vocab_size=tokenizer.get_vocab_size(),
        max_position_embeddings=128,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
        pad_token_id=1,
        **_SMALL,
    )
    return _save(DebertaV2Model(config), tokenizer, folder, **_SP_NAMES)


def modernbert(folder: Path) -> Path:
    from transformers import ModernBertConfig, ModernBertModel

    torch.manual_seed(4)
    tokenizer = byte_level()
    config = ModernBertConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=256, pad_token_id=1, **_SMALL
    )
    return _save(ModernBertModel(config), tokenizer, folder, **_BYTE_NAMES)


def t5(folder: Path) -> Path:
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(5)
    tokenizer = sentencepiece()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    config = T5Config(
        vocab_size=tokenizer.get_vocab_size(),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=3,
        num_heads=4,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    return _save(T5ForConditionalGeneration(config), tokenizer, folder, **_SP_NAMES)


def marian(folder: Path) -> Path:
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(6)
    tokenizer = sentencepiece()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    size = tokenizer.get_vocab_size()
    config = MarianConfig(
        vocab_size=size,
        d_model=32,
        encoder_layers=3,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=128,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    return _save(MarianMTModel(config), tokenizer, folder, **_SP_NAMES)


def marian_of_two_sides(folder: Path) -> Path:
    """Marian with the tokenizer it has in the wild: no offsets, and pieces of its own for either language (en-ru)."""
    import io
    import json

    import sentencepiece
    from transformers import MarianTokenizer

    marian(folder)
    for file in folder.glob("tokenizer*"):
        file.unlink()
    pieces: dict[str, int] = {"<unk>": 0, "<pad>": 1, "</s>": 2}
    for name, lines in (("source", LINES[:2] + LINES[8:]), ("target", LINES)):
        made = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines * 3), model_writer=made, vocab_size=90 if name == "source" else 200,
            hard_vocab_limit=False, minloglevel=2,
        )  # fmt: skip
        (folder / f"{name}.spm").write_bytes(made.getvalue())
        model = sentencepiece.SentencePieceProcessor(model_proto=made.getvalue())
        for number in range(model.vocab_size()):
            pieces.setdefault(model.id_to_piece(number), len(pieces))
    (folder / "vocab.json").write_text(json.dumps(pieces), "utf-8")
    MarianTokenizer(
        str(folder / "source.spm"), str(folder / "target.spm"), str(folder / "vocab.json"),
        source_lang="en", target_lang="ru",
    ).save_pretrained(folder)  # fmt: skip
    return folder


def qwen(folder: Path) -> Path:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(7)
    tokenizer = byte_level(bos=False)
    config = Qwen2Config(
        vocab_size=tokenizer.get_vocab_size(), num_key_value_heads=2, max_position_embeddings=256, **_SMALL
    )
    return _save(Qwen2ForCausalLM(config), tokenizer, folder, **_BYTE_NAMES)


def llama(folder: Path) -> Path:
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(8)
    tokenizer = byte_level()
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(), num_key_value_heads=2, max_position_embeddings=256, **_SMALL
    )
    return _save(LlamaForCausalLM(config), tokenizer, folder, **_BYTE_NAMES)


def gemma(folder: Path) -> Path:
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    torch.manual_seed(9)
    tokenizer = sentencepiece()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    config = Gemma3TextConfig(
        vocab_size=tokenizer.get_vocab_size(),
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=256,
        pad_token_id=1,
        **_SMALL,
    )
    return _save(Gemma3ForCausalLM(config), tokenizer, folder, **_SP_NAMES)


def xlnet(folder: Path) -> Path:
    """Its config says -1 for no limit of positions, and its last token has a type of its own."""
    from transformers import PreTrainedTokenizerFast, XLNetConfig, XLNetModel

    torch.manual_seed(13)
    tokenizer = sentencepiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 </s>:0 <s>:2", special_tokens=[("</s>", 2), ("<s>", 0)]
    )
    config = XLNetConfig(vocab_size=tokenizer.get_vocab_size(), d_model=32, n_layer=3, n_head=4, d_inner=64)
    XLNetModel(config).save_pretrained(folder)
    inputs = ["input_ids", "token_type_ids", "attention_mask"]
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=inputs, **_SP_NAMES).save_pretrained(folder)
    return folder


def convbert(folder: Path) -> Path:
    """Its convolutions read padding, whatever the mask says."""
    from transformers import ConvBertConfig, ConvBertModel

    torch.manual_seed(14)
    tokenizer = wordpiece()
    sizes = {"max_position_embeddings": 128, "embedding_size": 32, "initializer_range": 0.3, **_SMALL}
    config = ConvBertConfig(vocab_size=tokenizer.get_vocab_size(), pad_token_id=0, **sizes)
    return _save(ConvBertModel(config), tokenizer, folder, **_BERT_NAMES)


def fnet(folder: Path) -> Path:
    """Its Fourier transforms have no mask."""
    from transformers import FNetConfig, FNetModel

    torch.manual_seed(15)
    tokenizer = sentencepiece()
    sizes = {name: size for name, size in _SMALL.items() if name != "num_attention_heads"}
    config = FNetConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=128, pad_token_id=1, **sizes)
    return _save(FNetModel(config), tokenizer, folder, **_SP_NAMES)


def xlm(folder: Path) -> Path:
    """It takes a token for padding by its number where it is given no mask: here one that texts hold."""
    from transformers import XLMConfig, XLMModel

    torch.manual_seed(16)
    tokenizer = wordpiece()
    sizes = {"emb_dim": 32, "n_layers": 3, "n_heads": 4, "max_position_embeddings": 128}
    config = XLMConfig(vocab_size=tokenizer.get_vocab_size(), pad_index=tokenizer.token_to_id("[UNK]"), **sizes)
    return _save(XLMModel(config), tokenizer, folder, **_BERT_NAMES)


def byt5(folder: Path) -> Path:
    """Its tokens are bytes, and its tokenizer keeps no offsets."""
    from transformers import ByT5Tokenizer, T5Config, T5EncoderModel

    torch.manual_seed(17)
    tokenizer = ByT5Tokenizer()
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 3, "num_heads": 4}
    T5EncoderModel(T5Config(vocab_size=len(tokenizer), pad_token_id=0, **sizes)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def nllb(folder: Path) -> Path:
    """A special token before each text says its language."""
    from transformers import M2M100Config, M2M100Model, NllbTokenizer

    torch.manual_seed(18)
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁", *sorted(set("".join(LINES)) - {" "})]
    tokenizer = NllbTokenizer(
        vocab={piece: number for number, piece in enumerate(pieces)},
        merges=[],
        additional_special_tokens=["eng_Latn", "rus_Cyrl", "arb_Arab", "zho_Hant", "zho_Hans"],
    )
    sizes = {"d_model": 32, "encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 4,
             "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}  # fmt: skip
    config = M2M100Config(vocab_size=len(tokenizer), max_position_embeddings=256, **sizes)
    M2M100Model(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


UNUSUAL: dict[str, Callable[[Path], Path]] = {
    "xlnet": xlnet,
    "convbert": convbert,
    "fnet": fnet,
    "xlm": xlm,
    "byt5": byt5,
    "nllb": nllb,
}
"""Architectures that batches, masks, token types or tokenizers without offsets once led astray."""

ARCHITECTURES: dict[str, Callable[[Path], Path]] = {
    "bert": bert,
    "distilbert": distilbert,
    "electra": electra,
    "xlm-roberta": xlm_roberta,
    "deberta-v2": deberta,
    "modernbert": modernbert,
    "t5": t5,
    "marian": marian,
    "qwen2": qwen,
    "llama": llama,
    "gemma3": gemma,
}
