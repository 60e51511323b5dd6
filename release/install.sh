#!/bin/sh
# Installs waybill for one person: the program into PREFIX/bin, its manual pages and completions into PREFIX/share.
#
#   sh install.sh                          into ~/.local
#   PREFIX=/usr/local sh install.sh        elsewhere
#   WAYBILL_DOWNLOAD=ADDRESS sh install.sh  from another server with the files of the release
#
# Nothing is installed unless the archive has the checksum that checksums.txt states.
set -eu

version=VERSION
download=${WAYBILL_DOWNLOAD:-DOWNLOAD}
prefix=${PREFIX:-${HOME:?}/.local}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "this script knows Linux and macOS, not $(uname -s); on Windows unpack the zip file" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no program for the processor $(uname -m)" ;;
esac

fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail "curl or wget is needed"
  fi || fail "cannot download $1"
}

folder=waybill_${version}_${os}_${arch}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch "$download/checksums.txt" "$work/checksums.txt"
fetch "$download/$folder.tar.gz" "$work/$folder.tar.gz"

wanted=$(awk -v name="$folder.tar.gz" '$2 == name {print $1}' "$work/checksums.txt")
[ -n "$wanted" ] || fail "checksums.txt does not list $folder.tar.gz"
if command -v sha256sum >/dev/null 2>&1; then
  found=$(sha256sum "$work/$folder.tar.gz")
else
  found=$(shasum -a 256 "$work/$folder.tar.gz")
fi
[ "${found%% *}" = "$wanted" ] || fail "$folder.tar.gz has another checksum than checksums.txt states; nothing was installed"

tar -xzf "$work/$folder.tar.gz" -C "$work"
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
# A running waybill keeps its file: the new one takes its name.
cp "$work/$folder/waybill" "$prefix/bin/.waybill.new"
chmod 755 "$prefix/bin/.waybill.new"
mv -f "$prefix/bin/.waybill.new" "$prefix/bin/waybill"
cp "$work/$folder"/man/*.1 "$prefix/share/man/man1/"
cp "$work/$folder/completions/waybill.bash" "$prefix/share/bash-completion/completions/waybill"
cp "$work/$folder/completions/waybill.zsh" "$prefix/share/zsh/site-functions/_waybill"
cp "$work/$folder/completions/waybill.fish" "$prefix/share/fish/vendor_completions.d/waybill.fish"

echo "installed waybill $version in $prefix/bin"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "add $prefix/bin to your PATH, then run: waybill setup" ;;
esac
