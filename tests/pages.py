"""Pages read back: what a report's script reads."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any


def page_data(html: str) -> dict[str, Any]:
    """What a page's script reads, taken back out of it: figures, tables and records."""
    packed = html.split('<script type="application/octet-stream" id="data">', 1)[1].split("</script>", 1)[0]
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(packed)))
    texts = found.pop("texts", [])
    for trace in [trace for figure in found.get("figures", []) if figure["dense"] for trace in figure["traces"]]:
        if "text" in trace:
            trace["text"] = [texts[place] for place in trace["text"]]
    return found
