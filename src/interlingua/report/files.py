"""What a report is as files: a name for each text. Writing them is the caller's."""

from __future__ import annotations

from interlingua.report.kit.exports import markdown_text, to_csv, to_latex, to_markdown
from interlingua.report.kit.finding import Finding
from interlingua.report.kit.page import render_page
from interlingua.report.kit.section import Run, split_code
from interlingua.report.report import Report, build_report


def report_files(run: Run, title: str = "") -> dict[str, str]:
    """File names and texts of a run: `report.html`, `summary.md`, and every table as CSV, Markdown and LaTeX."""
    report = build_report([run], title=title)
    files = {"report.html": render_page(report), "summary.md": summary_markdown(report)}
    for table in report.tables():
        if table.rows:
            files[f"tables/{table.name}.csv"] = to_csv(table)
            files[f"tables/{table.name}.md"] = to_markdown(table)
            files[f"tables/{table.name}.tex"] = to_latex(table)
    return files


def summary_markdown(report: Report) -> str:
    """Title, verdict, key figures and all findings by topic, as Markdown."""
    head = report.headline
    parts = [f"# {markdown_text(head.title)}", markdown_text(head.answer.sentence)]
    lines = []
    for figure in head.figures:
        number = " ".join(filter(None, (figure.value, figure.interval)))
        context = f" ({markdown_text(figure.context)})" if figure.context else ""
        lines.append(f"- {markdown_text(figure.label)}: {markdown_text(number)}{context}")
    if lines:
        parts.append("\n".join(lines))
    if head.measured:
        parts.append(markdown_text(head.measured))
    if head.findings:
        parts.append(_findings_markdown(head.findings))
    parts += [
        f"## {markdown_text(section.title)}\n\n{_findings_markdown(section.findings)}"
        for section in report.sections
        if section.findings
    ]
    if head.next_step:
        step = [f"`{text}`" if is_code else markdown_text(text) for text, is_code in split_code(head.next_step)]
        parts.append(f"Next: {''.join(step)}")
    return "\n\n".join(parts) + "\n"


def _findings_markdown(findings: tuple[Finding, ...]) -> str:
    return "\n".join(f"- **{finding.topic}.** {markdown_text(finding.sentence)}" for finding in findings)
