#!/bin/bash
#
# Makes several workers look like one, by nginx: what one of them does not answer, another is asked, until it is stopped.
#
# Usage: tools/fleet/start_balancer.sh FOLDER PORT WORKER_PORT...
#   FOLDER       where it keeps its log
#   PORT         what Bazel is told: --remote_executor=grpc://127.0.0.1:PORT
#   WORKER_PORT  of start_worker.sh; these workers must share a folder, so that each has what the others made

set -euo pipefail

die() {
  echo "start_balancer: $*" >&2
  exit 1
}

[[ $# -ge 3 ]] || {
  echo "usage: start_balancer.sh FOLDER PORT WORKER_PORT..." >&2
  exit 2
}
for port in "${@:2}"; do
  [[ "${port}" =~ ^[0-9]+$ ]] || die "the port '${port}' is no number"
done
# Debian puts it where only root looks.
NGINX="$(PATH="${PATH}:/usr/sbin" command -v nginx)" || die "nginx is missing: tools/setup.sh installs it"
readonly NGINX PORT="$2"
mkdir -p "$1/temporary" || die "cannot make $1"
FOLDER="$(realpath "$1")"
readonly FOLDER
shift 2

cat > "${FOLDER}/balancer.conf" << CONFIG
# start_balancer.sh wrote this.
daemon off;
master_process off;
pid ${FOLDER}/balancer.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${FOLDER}/temporary/body;
  proxy_temp_path ${FOLDER}/temporary/proxy;
  fastcgi_temp_path ${FOLDER}/temporary/fastcgi;
  uwsgi_temp_path ${FOLDER}/temporary/uwsgi;
  scgi_temp_path ${FOLDER}/temporary/scgi;
  client_max_body_size 0;
  keepalive_requests 1000000;
  upstream workers {
$(printf '    server 127.0.0.1:%s max_fails=1 fail_timeout=10s;\n' "$@")
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${PORT} http2;
    # The protocol's have dots in their names, for which nginx would drop them.
    ignore_invalid_headers off;
    location / {
      grpc_pass grpc://workers;
      # An action is silent for as long as it takes.
      grpc_read_timeout 1h;
      grpc_send_timeout 1h;
      # Asking twice for an action, or for a file by its digest, does no harm.
      grpc_next_upstream error timeout non_idempotent;
    }
  }
}
CONFIG
exec "${NGINX}" -e "${FOLDER}/balancer.log" -c "${FOLDER}/balancer.conf"
