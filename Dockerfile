# The worker of docker-compose.yml, with the command line beside it; drains on SIGTERM.
FROM python:3.11.16-slim-bookworm
# An optional extra of pyproject.toml, such as `semantic`.
ARG EXTRAS=""
# A new volume on /data takes its owner from here.
RUN pip install --no-cache-dir uv==0.13.9 \
    && useradd --create-home --uid 10001 surefoot \
    && install -d -o surefoot -g surefoot /data
WORKDIR /app
ENV PATH="/app/.venv/bin:$PATH" PYTHONUNBUFFERED=1 SUREFOOT_HOME=/data \
    UV_COMPILE_BYTECODE=1 UV_PYTHON_DOWNLOADS=never
# Dependencies first: they change less often than the code.
COPY pyproject.toml ./
RUN uv sync --no-dev --no-cache ${EXTRAS:+"--extra=${EXTRAS}"}
COPY workflows ./workflows
COPY activities ./activities
COPY runtime ./runtime
COPY cli ./cli
COPY worker.py starter.py ./
# The user below cannot write here, and every reading process would compile anew.
RUN python -m compileall -q workflows activities runtime cli
USER 10001
ENTRYPOINT ["python", "worker.py"]
