# .agentcli/pre-commit.sh: exit 1 if agentcli finds something in what is staged. No model to ask, no hindrance.
set -uo pipefail
answer=$(git diff --cached | agentcli run --schema .agentcli/review-schema.json --permission-mode read-only \
  --no-session --max-turns 10 --timeout 120 "Review this diff. Report only what is surely a bug.")
code=$?
case $code in
  0) jq -r '.findings[] | "\(.file):\(.line): \(.message)"' <<<"$answer" && jq -e '.findings == []' <<<"$answer" >/dev/null ;;
  3 | 75) echo "agentcli had no answer in time; the commit goes on" ;;
  *) exit "$code" ;;
esac
