# PostgreSQL with memwarden. Everything that RUNs here is a script or a target that deploy/server
# runs too, in its own root file system.
#
#   docker build --tag memwarden .
#   docker build --tag memwarden:18 --build-arg SUITE=forky --build-arg PG=18 .
ARG SUITE=trixie
FROM debian:${SUITE}-slim
ARG PG=17
ENV LANG=C.UTF-8 \
    PATH=/usr/lib/postgresql/${PG}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

COPY deploy/packages.txt deploy/setup-server /opt/memwarden/
RUN /opt/memwarden/setup-server ${PG}

WORKDIR /usr/src/memwarden
COPY Makefile memwarden.control ./
COPY deploy/server.mk deploy/
COPY migrations migrations
COPY plpython plpython
COPY sql sql
COPY tools tools
RUN make build install PG_CONFIG=/usr/lib/postgresql/${PG}/bin/pg_config

WORKDIR /
COPY deploy/lib /usr/lib/memwarden
COPY deploy/docker-entrypoint /usr/local/bin/

# The cluster, and the master key when none is mounted: two volumes, so that one can be backed up
# without the other.
VOLUME ["/var/lib/postgresql/data", "/var/lib/memwarden"]
EXPOSE 5432
STOPSIGNAL SIGINT
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["pg_isready", "--quiet", "--host=127.0.0.1", "--username=postgres", "--dbname=memwarden"]
ENTRYPOINT ["docker-entrypoint"]
