"""The life of a task: submit an operation, read events; everything between the two happens here."""
