# SPDX-License-Identifier: Apache-2.0
# bash completion for jvmscope(1)

# Pids of processes called java: reads one small file each, starts nothing.
_jvmscope_pids() {
	local comm name

	for comm in /proc/[0-9]*/comm; do
		{ read -r name <"$comm"; } 2>/dev/null || continue
		[[ $name == java ]] || continue
		comm=${comm#/proc/}
		echo "${comm%/comm}"
	done
}

# The command of the line; "record" when an option comes first. Empty before it was typed.
_jvmscope_command() {
	case ${COMP_WORDS[1]} in
	-*) echo record ;;
	*) ((COMP_CWORD > 1)) && echo "${COMP_WORDS[1]}" ;;
	esac
}

# Options of a command, each as often as it may be typed.
_jvmscope_options() {
	local common='-q --quiet -v --verbose -h --help --version'

	case $1 in
	record)
		echo "$common -p --pid --all -d --duration -f --file --format -e --events
			--max-overhead -F --frequency --max-depth --cpu-event --ring-size --live-blocks --native-sites --chunk --max-size
			--max-age --trie --filter
			--metric --threads --lines --annotate --strict --no-progress --color --"
		;;
	ps) echo "$common --json" ;;
	doctor) echo "$common -p --pid --color" ;;
	convert) echo "$common -o --output --format --trie --filter --metric --threads --lines
			--annotate --strict" ;;
	trie) echo "$common -o --output --format --name --from --escaped" ;;
	version | help) echo "$common" ;;
	esac
}

# Values of the option before the cursor, of a command. Status 1 when it takes none that can be
# listed.
_jvmscope_values() {
	case $1 in
	-p | --pid) _jvmscope_pids ;;
	--format)
		case $2 in
		trie) echo 'text binary c java' ;;
		*) echo 'jfr json collapsed pprof nmt' ;;
		esac
		;;
	--filter) echo 'mark fold drop off' ;;
	-e | --events) echo 'cpu offcpu native native=libc class gc safepoint lock alloc thread jit exception io counter all' ;;
	--max-overhead) echo 'none' ;;
	--metric) echo 'cpu native_alloc native_live vm_reserved vm_committed thread_stacks class_load lock_wait object_wait park heap_alloc exception deoptimization offcpu wakeup socket_read socket_write file_read file_write file_force socket_read_bytes socket_write_bytes file_read_bytes file_write_bytes' ;;
	--cpu-event) echo 'auto cycles cpu-clock' ;;
	--color) echo 'auto always never' ;;
	-F | --frequency) echo '99 199 499 997' ;;
	-d | --duration) echo '10s 30s 1m 5m' ;;
	--max-depth) echo '1024 2048 8192' ;;
	--ring-size) echo '8M 16M 32M' ;;
	--live-blocks) echo '65536 262144 1048576' ;;
	--native-sites) echo '8192 32768 131072' ;;
	--chunk) echo '1s 10s 1m' ;;
	--max-size) echo '100M 250M 1G' ;;
	--max-age) echo '10m 1h 6h' ;;
	*) return 1 ;;
	esac
}

_jvmscope() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command values i head=''

	# "--format=json" arrives as three words.
	if [[ $word == = ]]; then
		word=''
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi

	# What follows -- is another program's command line.
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- ]]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			else
				mapfile -t COMPREPLY < <(compgen -c -- "$word")
			fi
			return
		fi
	done

	command=$(_jvmscope_command)
	if [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'record ps doctor trie convert version help -p --all --help --version' -- "$word")
		return
	fi
	case $before in
	-f | --file | -o | --output | --trie)
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	esac
	if values=$(_jvmscope_values "$before" "$command"); then
		# The last one of a list: what stands before it stays.
		if [[ $before == @(-p|--pid|-e|--events) && $word == *,* ]]; then
			head=${word%,*},
		fi
		mapfile -t COMPREPLY < <(compgen -P "$head" -W "$values" -- "${word#"$head"}")
		return
	fi
	if [[ $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'record ps doctor trie convert version help' -- "$word")
		return
	fi
	if [[ $command == convert && $word != -* ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
	fi
	# trie: first what to do, then a file.
	if [[ $command == trie && $word != -* ]]; then
		if ((COMP_CWORD == 2)); then
			mapfile -t COMPREPLY < <(compgen -W 'build lookup dump' -- "$word")
		else
			compopt -o filenames 2>/dev/null
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
		fi
		return
	fi
	mapfile -t COMPREPLY < <(compgen -W "$(_jvmscope_options "$command")" -- "$word")
}

complete -F _jvmscope jvmscope
