# Print the targets and variables of a Makefile with the "## " line above each of them.

function show(name, value, text) {
    printf "  %-22s%s%s\n", name, text, value == "" ? "" : " (" value ")"
}

BEGIN { print "Usage: make TARGET [VARIABLE=value ...]\n" }

/^## / { text = substr($0, 4); next }

text != "" && /^[A-Z_]+ =/ {
    variables[++number] = $1
    about[number] = text
    value[number] = $0
    sub(/^[A-Z_]+ = ?/, "", value[number])
}

text != "" && /^[a-z-]+:/ {
    if (!targets++) print "Targets"
    show(substr($1, 1, index($1, ":") - 1), "", text)
}

{ text = "" }

END {
    print "\nVariables, with their defaults"
    for (i = 1; i <= number; i++) show(variables[i], value[i], about[i])
}
