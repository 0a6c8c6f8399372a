"""Draw `models.svg`, the models as one picture: `python docs/figures/models.py`."""

from pathlib import Path

BOXES = {
    "one_coin": (375, 20, "one accuracy, equal errors"),
    "pooled": (10, 130, "one full matrix for all"),
    "one_coin_by_rater": (240, 130, "an accuracy for each rater"),
    "class_conditional": (240, 240, "accuracy by rater and category"),
    "relaxed_k": (490, 240, "a standard deviation for each K-property"),
    "dawid_skene": (125, 350, "a full matrix for each rater"),
}
ARROWS = [
    ("one_coin", "one_coin_by_rater"),
    ("one_coin", "pooled"),
    ("one_coin", "relaxed_k"),
    ("one_coin_by_rater", "class_conditional"),
    ("one_coin_by_rater", "relaxed_k"),
    ("pooled", "dawid_skene"),
    ("class_conditional", "dawid_skene"),
]
ALGEBRA = (10, 20, "the same assumptions, by algebra")
WIDTH, HEIGHT = 190, 54
WIDE = {"relaxed_k": 280}


def _box(name: str, x: int, y: int, text: str, style: str = "") -> str:
    width = WIDE.get(name, WIDTH + 20)
    middle = x + width / 2
    return (
        f'<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="6" fill="#ffffff" '
        f'stroke="#0072B2" stroke-width="1.5" {style}/>'
        f'<text x="{middle}" y="{y + 23}" text-anchor="middle" font-family="monospace" '
        f'font-size="14" font-weight="bold">{name}</text>'
        f'<text x="{middle}" y="{y + 42}" text-anchor="middle" font-family="sans-serif" '
        f'font-size="12">{text}</text>'
    )


def _arrow(start: str, end: str) -> str:
    (x1, y1, _), (x2, y2, _) = BOXES[start], BOXES[end]
    x1 += WIDE.get(start, WIDTH + 20) / 2
    x2 += WIDE.get(end, WIDTH + 20) / 2
    lean = max(-70, min(70, (x2 - x1) / 2))
    return (
        f'<line x1="{x1 + lean}" y1="{y1 + HEIGHT}" x2="{x2 - lean / 3}" y2="{y2 - 4}" '
        'stroke="#555555" stroke-width="1.3" marker-end="url(#tip)"/>'
    )


def draw() -> str:
    """Give the picture as SVG."""
    arrows = "".join(_arrow(*pair) for pair in ARROWS)
    boxes = "".join(_box(name, *place) for name, place in BOXES.items())
    x, y, text = ALGEBRA
    algebra = _box("algebraic", x, y, text, 'stroke-dasharray="5 3"')
    joined = (
        f'<line x1="{x + WIDTH + 20}" y1="{y + 27}" x2="375" y2="{y + 27}" stroke="#555555" '
        'stroke-width="1.3" stroke-dasharray="5 3"/>'
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 424">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#555555"/></marker></defs>'
        f'<rect width="920" height="424" fill="#ffffff"/>{arrows}{joined}{boxes}{algebra}</svg>\n'
    )


if __name__ == "__main__":
    Path(__file__).with_name("models.svg").write_text(draw(), encoding="utf-8")
