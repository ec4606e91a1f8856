"""Deployment: the Compose file, the image, the jobs and the schedule of the documentation."""
