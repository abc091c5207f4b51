#!/usr/bin/env bash
# Fetches the default models (about 160 MB, once) into ${XDG_CACHE_HOME:-~/.cache}/omni-serve, or $OMNI_MODELS_DIR.
set -euo pipefail
# shellcheck source=app/setup.sh
source "$(dirname "$0")/setup.sh"
fetch_default_models
echo "The default models are in $(models_dir)."
