"""Which commit of a hub model a name stands for: what the local cache has, or what the hub says."""

from __future__ import annotations

import re
from pathlib import Path

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SECONDS = 10.0


def cached_commit(name: str, revision: str | None = None) -> str | None:
    """The commit of a revision (none said: main) of which the local cache has files; None where it has none.

    A revision that is a commit stands for itself. Nothing is fetched.
    """
    if revision is not None and _COMMIT.fullmatch(revision):
        return revision
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    folder = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="model")
    try:
        commit = (folder / "refs" / (revision or "main")).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return commit if _COMMIT.fullmatch(commit) and (folder / "snapshots" / commit).is_dir() else None


def asked_commit(name: str, revision: str | None = None) -> str | None:
    """The commit that the hub has for a revision now; None where it cannot be asked, or does not know."""
    from huggingface_hub import HfApi

    try:
        return HfApi().model_info(name, revision=revision, timeout=_SECONDS).sha
    except Exception:  # No network, offline by choice, no such model: loading it will say which.
        return None
