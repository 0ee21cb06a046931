"""The checks behind `brain doctor` and `GET /api/brain/doctor`."""
