# As much JSON as a host in bash needs, in bash. Bash 4.3 or later, for printf '\u'.

# quote TEXT: prints it as a JSON string.
quote() {
  local text=$1 code char
  text=${text//\\/\\\\}
  text=${text//\"/\\\"}
  for code in {1..31}; do
    printf -v char "\\x$(printf %x "$code")"
    text=${text//"$char"/$(printf '\\u%04x' "$code")}
  done
  printf '"%s"' "$text"
}

# text NAME JSON: prints the first string with that name in the JSON, and fails if there is none. Quotes within strings
# are escaped, so that no text can pretend to be a member. printf knows the escapes that waybill writes, but for \".
text() {
  local member="\"$1\":\"(([^\"\\]|\\\\.)*)\""
  [[ $2 =~ $member ]] && printf '%b' "${BASH_REMATCH[1]//\\\"/\"}"
}
