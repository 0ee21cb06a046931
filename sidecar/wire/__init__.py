"""The types of everything that crosses a boundary. No logic, and no import from the rest of the project."""
