"""The types that cross a boundary: requests, answers, events and bridge frames."""
