"""Checks a task's change: the tests and checkers that run, the claims of the report, and what a failure says next."""
