"""The subjects of a report: each of them makes findings, tables and charts of the records that are there."""
