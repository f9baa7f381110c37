"""The parts of every report: findings, tables, charts, sections, and the renderers of them."""
