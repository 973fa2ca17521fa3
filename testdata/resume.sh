#!/bin/bash
# Stops run translate again and again and continues it, and compares every file
# with that of an undisturbed run.
#
#   resume.sh RUN MODEL INPUT HOW TIMES NAME [FLAG...]
#
# RUN is the program, HOW is KILL, INT or TERM (a signal at random moments) or
# DISK (the output lies on a tmpfs that is too small and grows each time; needs
# root), TIMES the number of files to make, NAME the output's name: out, out.gz
# or out.zst. FLAGs go to run translate.
set -u
run=$1 model=$2 input=$3 how=$4 times=$5 name=$6
shift 6
dir=$(mktemp -d)
disk=
trap '[ -n "$disk" ] && umount "$disk"; rm -rf "$dir"' EXIT

command=("$run" translate -m "$model" --quiet "$@" "$input")

begin=$(date +%s%N)
"${command[@]}" -o "$dir/undisturbed.$name" || exit 1
took=$((($(date +%s%N) - begin) / 1000000)) # milliseconds
size=$(stat -c %s "$dir/undisturbed.$name")
echo "undisturbed: $took ms, $size bytes, $(sha256sum <"$dir/undisturbed.$name")"

case $how in
KILL) want=137 ;;
INT) want=130 ;;
TERM) want=143 ;;
DISK)
	want=1 disk=$dir/disk
	mkdir "$disk"
	mount -t tmpfs -o size=64k tmpfs "$disk" || exit 1
	;;
*) echo "HOW is $how, want KILL, INT, TERM or DISK" >&2; exit 2 ;;
esac

same=0 stops=0
for ((i = 1; i <= times; i++)); do
	out=${disk:-$dir}/$name room=0
	rm -f "$out" "$out.resume"
	for ((n = 1; ; n++)); do
		if [ "$how" = DISK ]; then
			room=$((room + 20000 + (size / 8) * (RANDOM % 100) / 100))
			mount -o remount,size=$room "$disk"
			"${command[@]}" -o "$out" --resume 2>"$dir/stderr"
			status=$?
		else
			"${command[@]}" -o "$out" --resume 2>"$dir/stderr" &
			pid=$!
			if [ $n -le 4 ]; then # then it may finish
				ms=$((took * (RANDOM % 1000) / 2000))
				sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
				kill -$how $pid 2>/dev/null
			fi
			wait $pid 2>/dev/null
			status=$?
		fi
		[ $status = 0 ] && break
		stops=$((stops + 1))
		# A signal before the program listens ends it by itself.
		if [ $status != $want ] && [ $n -gt 200 ]; then
			echo "file $i: status $status, want $want: $(cat "$dir/stderr")"
			exit 1
		fi
	done
	if cmp -s "$out" "$dir/undisturbed.$name" && [ ! -e "$out.resume" ]; then
		same=$((same + 1))
	else
		echo "file $i differs"
	fi
done
echo "$how: $same of $times files are those of an undisturbed run, $stops stops"
[ $same = $times ]
