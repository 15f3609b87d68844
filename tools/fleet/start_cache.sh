#!/bin/bash
#
# Runs a remote cache for Bazel, nginx with WebDAV's PUT, until it is stopped (Ctrl-C, or a TERM signal).
#
# Usage: tools/fleet/start_cache.sh FOLDER [PORT]
#   FOLDER  where it keeps what was built, and its log
#   PORT    on this machine alone; 8090 otherwise
#
# Then: bazel build --remote_cache=http://127.0.0.1:PORT ...

set -euo pipefail

die() {
  echo "start_cache: $*" >&2
  exit 1
}

[[ $# -eq 1 || $# -eq 2 ]] || {
  echo "usage: start_cache.sh FOLDER [PORT]" >&2
  exit 2
}
readonly PORT="${2:-8090}"
[[ "${PORT}" =~ ^[0-9]+$ ]] || die "the port '${PORT}' is no number"

# Debian puts it where only root looks.
NGINX="$(PATH="${PATH}:/usr/sbin" command -v nginx)" ||
  die "nginx is missing: apt-get install nginx (nginx-light and nginx-extras have it, too)"
readonly NGINX
mkdir -p "$1" || die "cannot make $1"
FOLDER="$(realpath "$1")"
readonly FOLDER
[[ "${FOLDER}" != *[\;\{\}\"\'\$\ ]* ]] || die "nginx cannot take the name ${FOLDER}; use letters, digits, '_', '-', '.' and '/'"
mkdir -p "${FOLDER}"/{files,temporary}

cat > "${FOLDER}/nginx.conf" << CONFIG
# start_cache.sh wrote this.
daemon off;
master_process off;
pid ${FOLDER}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log ${FOLDER}/access.log;
  # A file of the cache is written here and then renamed: it is there whole or not at all.
  client_body_temp_path ${FOLDER}/temporary/body;
  proxy_temp_path ${FOLDER}/temporary/proxy;
  fastcgi_temp_path ${FOLDER}/temporary/fastcgi;
  uwsgi_temp_path ${FOLDER}/temporary/uwsgi;
  scgi_temp_path ${FOLDER}/temporary/scgi;
  client_max_body_size 0;
  sendfile on;
  keepalive_requests 100000;
  server {
    listen 127.0.0.1:${PORT};
    root ${FOLDER}/files;
    # Bazel asks for these, and no other path: results of actions, and files by their SHA-256.
    location ~ "^/(ac|cas)/[0-9a-f]{64}$" {
      dav_methods PUT;
      create_full_put_path on;
      log_not_found off;
    }
    location / { return 404; }
  }
}
CONFIG
exec "${NGINX}" -e "${FOLDER}/error.log" -c "${FOLDER}/nginx.conf"
