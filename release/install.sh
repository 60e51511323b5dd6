#!/bin/sh
# Installs waybill for one person: the program into PREFIX/bin, its manual pages and completions into PREFIX/share.
#
#   sh install.sh                          into ~/.local
#   PREFIX=/usr/local sh install.sh        elsewhere
#   WAYBILL_DOWNLOAD=ADDRESS sh install.sh  from another server with the files of the release
#
# Nothing is installed unless the archive has the checksum that this script states.
set -eu
umask 022 # with PREFIX=/usr/local the files are for all users

version=VERSION
checksums='CHECKSUMS'
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
wanted=$(echo "$checksums" | awk -v name="$folder.tar.gz" '$2 == name {print $1}')
[ -n "$wanted" ] || fail "this release has no $folder.tar.gz"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP # not every shell runs the line above when a signal ends it
trap 'exit 130' INT
trap 'exit 143' TERM
fetch "$download/$folder.tar.gz" "$work/$folder.tar.gz"

if command -v sha256sum >/dev/null 2>&1; then
  found=$(sha256sum "$work/$folder.tar.gz")
else
  found=$(shasum -a 256 "$work/$folder.tar.gz")
fi
[ "${found%% *}" = "$wanted" ] || fail "$folder.tar.gz has another checksum than this script states; nothing was installed"

tar -xzf "$work/$folder.tar.gz" -C "$work"
mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
# put MODE FROM TO: a running waybill keeps its file, because the new one takes its name.
put() {
  cp "$2" "$3.new"
  chmod "$1" "$3.new"
  mv -f "$3.new" "$3"
}
put 755 "$work/$folder/waybill" "$prefix/bin/waybill"
for page in "$work/$folder"/man/*.1; do
  put 644 "$page" "$prefix/share/man/man1/${page##*/}"
done
put 644 "$work/$folder/completions/waybill.bash" "$prefix/share/bash-completion/completions/waybill"
put 644 "$work/$folder/completions/waybill.zsh" "$prefix/share/zsh/site-functions/_waybill"
put 644 "$work/$folder/completions/waybill.fish" "$prefix/share/fish/vendor_completions.d/waybill.fish"

echo "installed waybill $version in $prefix/bin"
case :$PATH: in
  *":$prefix/bin:"*) ;;
  *) echo "add $prefix/bin to your PATH, then run: waybill setup" ;;
esac
