# The worker of docker-compose.yml; drains on SIGTERM.
FROM python:3.11-slim
RUN pip install --no-cache-dir uv==0.13.9 \
    && useradd --create-home --uid 10001 surefoot \
    && install -d -o surefoot -g surefoot /data
WORKDIR /app
ENV UV_COMPILE_BYTECODE=1 PATH="/app/.venv/bin:$PATH" PYTHONUNBUFFERED=1
# Dependencies first: they change less often than the code.
COPY pyproject.toml README.md ./
RUN uv sync --no-dev --no-cache
COPY workflows ./workflows
COPY activities ./activities
COPY runtime ./runtime
COPY worker.py ./
USER 10001
ENTRYPOINT ["python", "worker.py"]
