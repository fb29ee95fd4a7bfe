#!/usr/bin/env bash
# Write the comment of this pull request, or replace the one of an earlier run. gh is on the runners of GitHub.
set -euo pipefail

comments="repos/${GITHUB_REPOSITORY:?}/issues/${PROOFKA_NUMBER:?}/comments"
ours='.[] | select(.user.type == "Bot" and (.body | startswith("<!-- proofka -->"))) | .id'
earlier="$(gh api --paginate "$comments" --jq "$ours" | tail -n 1)"

if [ -n "$earlier" ]; then
  gh api --silent --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$earlier" --field "body=@${PROOFKA_COMMENT:?}"
else
  gh api --silent --method POST "$comments" --field "body=@${PROOFKA_COMMENT:?}"
fi
