"""Self-attention over short sequences: one program a head holds all its scores, so nothing is written in between."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LONGEST = 128
"""Scores of this square fit the registers of one program."""
WIDTHS = (16, 32, 64, 128)
_WARPS, _WARPS_BACK = 8, 4
"""The quickest of 4, 8 and 16 on an H200."""


def fits(product: torch.Tensor, heads: int, width: int) -> bool:
    """Whether the kernel can take a product of this shape: (sequence, position, 3 × heads × width), in bfloat16."""
    shaped = product.ndim == 3 and product.shape[2] == 3 * heads * width and product.shape[1] <= LONGEST
    return shaped and width in WIDTHS and product.is_cuda and product.dtype == torch.bfloat16


def short_attention(product: torch.Tensor, bias: torch.Tensor, heads: int, scale: float) -> torch.Tensor:
    """softmax(Q Kᵀ · scale) V for queries, keys and values side by side; (sequence, position, heads × width).

    They are `product` + `bias`. No mask and no dropout. The gradient comes as one tensor shaped like `product`, which
    the product before it wants: general kernels give three, which are then copied together. That of the bias is summed
    on the way.
    """
    mixed, _ = _forward(product, bias, heads, scale)
    return mixed


@torch.library.custom_op("interlingua::short_attention", mutates_args=())
def _forward(product: torch.Tensor, bias: torch.Tensor, heads: int, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    product = product.contiguous()
    batch, length, width = product.shape[0], product.shape[1], product.shape[2] // (3 * heads)
    mixed = product.new_empty(batch, length, heads * width)
    logs = torch.empty(batch * heads, length, dtype=torch.float32, device=product.device)
    block = max(triton.next_power_of_2(length), 16)
    _attend[(batch * heads,)](
        product,
        bias,
        mixed,
        logs,
        scale,
        length,
        HEADS=heads,
        WIDTH=width,
        BLOCK=block,
        num_warps=_WARPS_BACK,
    )
    return mixed, logs


@torch.library.custom_op("interlingua::short_attention_backward", mutates_args=())
def _backward(
    product: torch.Tensor, bias: torch.Tensor, logs: torch.Tensor, moved: torch.Tensor, heads: int, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    product, moved = product.contiguous(), moved.contiguous()
    batch, length, width = product.shape[0], product.shape[1], product.shape[2] // (3 * heads)
    gradient = torch.empty_like(product)
    sums = torch.empty(batch, product.shape[2], dtype=torch.float32, device=product.device)
    block = max(triton.next_power_of_2(length), 16)
    _attend_back[(batch * heads,)](
        product, bias, logs, moved, gradient, sums, scale, length,
        HEADS=heads, WIDTH=width, BLOCK=block, num_warps=_WARPS_BACK,
    )  # fmt: skip
    return gradient, sums


@_forward.register_fake
def _(product: torch.Tensor, bias: torch.Tensor, heads: int, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    batch, length, wide = product.shape
    return product.new_empty(batch, length, wide // 3), product.new_empty(batch * heads, length, dtype=torch.float32)


@_backward.register_fake
def _(
    product: torch.Tensor, bias: torch.Tensor, logs: torch.Tensor, moved: torch.Tensor, heads: int, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, _, wide = product.shape
    return product.new_empty(product.shape), product.new_empty(batch, wide, dtype=torch.float32)


def _keep(ctx, inputs, output):
    product, bias, ctx.heads, ctx.scale = inputs
    ctx.save_for_backward(product, bias, output[1])


def _gradient(ctx, moved, _):
    product, bias, logs = ctx.saved_tensors
    gradient, sums = _backward(product, bias, logs, moved, ctx.heads, ctx.scale)
    return gradient, sums.sum(0).to(bias.dtype), None, None


_forward.register_autograd(_gradient, setup_context=_keep)


@triton.jit
def _part(product, bias, place, column, inside):
    """Queries, keys or values of a head."""
    read = tl.load(product + place, mask=inside[:, None], other=0.0)
    return (read.to(tl.float32) + tl.load(bias + column).to(tl.float32)[None]).to(read.dtype)


@triton.jit
def _attend(
    product, bias, mixed, logs, scale, length, HEADS: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    batch, head = tl.program_id(0) // HEADS, tl.program_id(0) % HEADS
    rows, column = tl.arange(0, BLOCK), head * WIDTH + tl.arange(0, WIDTH)
    inside = rows < length
    at = (batch * length + rows[:, None]).to(tl.int64)
    place = at * (3 * HEADS * WIDTH) + column[None]
    query = _part(product, bias, place, column, inside)
    key = _part(product, bias, place + HEADS * WIDTH, column + HEADS * WIDTH, inside)
    value = _part(product, bias, place + 2 * HEADS * WIDTH, column + 2 * HEADS * WIDTH, inside)
    scores = tl.dot(query, tl.trans(key)) * (scale * 1.4426950408889634)  # in powers of two, which are quicker
    scores = tl.where(inside[None], scores, float("-inf"))
    most = tl.max(scores, 1)
    shares = tl.math.exp2(scores - most[:, None])
    total = tl.sum(shares, 1)
    result = tl.dot(shares.to(value.dtype), value) / total[:, None]
    tl.store(mixed + at * (HEADS * WIDTH) + column[None], result.to(value.dtype), mask=inside[:, None])
    tl.store(logs + tl.program_id(0) * length + rows, most + tl.math.log2(total), mask=inside)


@triton.jit
def _give(gradient, sums, part, place, column, inside):
    """Write the gradient of queries, keys or values, and its sum over positions."""
    part = tl.where(inside[:, None], part, 0.0)
    tl.store(gradient + place, part.to(gradient.dtype.element_ty), mask=inside[:, None])
    tl.store(sums + column, tl.sum(part, 0))


@triton.jit
def _attend_back(
    product, bias, logs, moved, gradient, sums, scale, length,
    HEADS: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    batch, head = tl.program_id(0) // HEADS, tl.program_id(0) % HEADS
    rows, column = tl.arange(0, BLOCK), head * WIDTH + tl.arange(0, WIDTH)
    inside = rows < length
    at = (batch * length + rows[:, None]).to(tl.int64)
    wide = HEADS * WIDTH
    place = at * (3 * wide) + column[None]
    query = _part(product, bias, place, column, inside)
    key = _part(product, bias, place + wide, column + wide, inside)
    value = _part(product, bias, place + 2 * wide, column + 2 * wide, inside)
    back = tl.load(moved + at * wide + column[None], mask=inside[:, None], other=0.0)
    log = tl.load(logs + tl.program_id(0) * length + rows, mask=inside, other=0.0)
    scores = tl.dot(query, tl.trans(key)) * (scale * 1.4426950408889634)
    shares = tl.where(inside[None], tl.math.exp2(scores - log[:, None]), 0.0)
    pull = tl.dot(back, tl.trans(value))
    # The rows' sums of shares × pull equal those of output × its gradient, so the output is not read again.
    level = tl.sum(shares * pull, 1)
    bent = (shares * (pull - level[:, None]) * scale).to(query.dtype)
    own = sums + batch * (3 * wide)
    _give(gradient, own, tl.dot(tl.trans(shares.to(query.dtype)), back), place + 2 * wide, column + 2 * wide, inside)
    _give(gradient, own, tl.dot(bent, key), place, column, inside)
    _give(gradient, own, tl.dot(tl.trans(bent), query), place + wide, column + wide, inside)
