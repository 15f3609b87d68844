#!/bin/bash
# llama.cpp's prefill and decode of TinyLlama with random weights, three turns:
#
#   bench/decode/llama_cpp.sh FOLDER 64 32 1
#
# FOLDER gets npm's packages and the model (620 MB), once.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
mkdir -p "$folder"
cd "$folder"
if [ ! -d node_modules ]; then
  echo '{"type": "module", "private": true}' > package.json
  # Nothing is downloaded or built beside the packages.
  NODE_LLAMA_CPP_SKIP_DOWNLOAD=true npm install --silent --ignore-scripts \
    node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1
fi
[ -f llama.gguf ] || python3 "$here/write_gguf.py" llama.gguf
cp "$here/llama_cpp.mjs" .
node llama_cpp.mjs llama.gguf "$2" "$3" "$4"
