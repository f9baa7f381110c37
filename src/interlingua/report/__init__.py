"""Records to what people read: tables, figures, an answer in words, one HTML page. Never a model, never torch."""
