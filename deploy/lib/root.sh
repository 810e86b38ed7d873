# The cached root file system, one for each PostgreSQL version and package list.
# Sourced by deploy/server, whose variables it uses.
# shellcheck shell=bash disable=SC2154

# Prints the path of the base root, and makes it first when it is missing.
base_root() {
    local key root
    key=$(cat "$deploy/packages.txt" "$deploy/setup-server" | sha256sum | cut -c1-12)
    root=$cache/roots/pg$pg-$key
    if [[ ! -d "$root" ]]; then
        exec 8> "$cache/roots/pg$pg.lock"
        flock 8 # two checkouts may want it at once
        [[ -d "$root" ]] || make_base_root "$root" 8>&-
        exec 8>&-
    fi
    echo "$root"
}

make_base_root() {
    local root=$1 new=$1.new log=$1.log
    install_mmdebstrap
    "${as_root[@]}" rm -rf "$new"
    say "making the PostgreSQL $pg root file system from Debian $suite (once, about half a minute)"
    if "${as_root[@]}" mmdebstrap --mode=root --variant=apt \
        --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
        --aptopt='Acquire::Check-Valid-Until "false"' \
        --customize-hook="mkdir \"\$1/opt/memwarden\"" \
        --customize-hook="copy-in '$deploy/packages.txt' '$deploy/setup-server' /opt/memwarden" \
        --customize-hook="chroot \"\$1\" /opt/memwarden/setup-server $pg tests" \
        "$suite" "$new" > "$log" 2>&1; then
        mv -T "$new" "$root"
        return
    fi
    tail -n 15 "$log" >&2
    "${as_root[@]}" rm -rf "$new"
    if [[ $pg == 18 ]]; then
        say "*** PostgreSQL 18 COULD NOT BE SET UP from Debian $suite (testing) today."
        say "*** The whole log: $log"
        exit "$ex_no_pg18"
    fi
    die "could not make the root file system; the whole log: $log"
}

install_mmdebstrap() {
    # `mount` is missing where Debian itself was made by hand, with nothing but apt.
    command -v mmdebstrap > /dev/null && command -v mount > /dev/null && return
    local need="mmdebstrap is missing: apt-get install mmdebstrap debian-archive-keyring"
    command -v apt-get > /dev/null || die "$need (this is not a Debian system; use the Dockerfile)"
    [[ $EUID -eq 0 ]] || die "$need"
    say "installing mmdebstrap"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes \
        --no-install-recommends mmdebstrap debian-archive-keyring mount; } > /dev/null || die "$need"
}
