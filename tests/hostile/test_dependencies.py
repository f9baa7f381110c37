"""No release with a known advisory satisfies what the package asks for."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
# The last releases before the advisory was met, of each line of versions.
ADVISORIES = {
    "CVE-2025-27516 (jinja2)": ("jinja2", "3.1.5"),
    "CVE-2025-4565 (protobuf 5)": ("protobuf", "5.29.4"),
    "CVE-2025-4565 (protobuf 6)": ("protobuf", "6.31.0"),
    "CVE-2026-0994 (protobuf 5)": ("protobuf", "5.29.5"),
    "CVE-2026-0994 (protobuf 6)": ("protobuf", "6.33.4"),
    "CVE-2026-1260 (sentencepiece)": ("sentencepiece", "0.2.0"),
    "CVE-2025-47273 (setuptools)": ("setuptools", "78.1.0"),
    "CVE-2025-32434 (torch)": ("torch", "2.5.1"),
    "CVE-2025-3933 (transformers)": ("transformers", "4.51.3"),
    "CVE-2024-5206 (scikit-learn)": ("scikit-learn", "1.4.2"),
    "CVE-2025-62593 (ray)": ("ray", "2.51.1"),
    "CVE-2021-42771 (babel)": ("babel", "2.9.0"),
    "CVE-2025-71176 (pytest)": ("pytest", "9.0.2"),
}


@pytest.mark.reliability("releases with known advisories")
@pytest.mark.parametrize("advisory", ADVISORIES)
def test_releases_with_known_advisories_are_not_admitted(advisory: str) -> None:
    name, version = ADVISORIES[advisory]
    stated = tomllib.loads(PROJECT.read_text("utf-8"))
    lists = [stated["project"]["dependencies"], *stated["project"]["optional-dependencies"].values()]
    asked = [Requirement(text) for each in (*lists, stated["build-system"]["requires"]) for text in each]
    found = [requirement for requirement in asked if requirement.name.lower() == name]
    assert found
    assert not any(requirement.specifier.contains(version) for requirement in found)
