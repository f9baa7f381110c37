"""Records to what people read: tables, figures, findings, one HTML page. Never a model, never torch."""
