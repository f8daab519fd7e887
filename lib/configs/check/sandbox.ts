import { constants } from 'node:fs'
import { access, mkdir, mkdtemp, open, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ProgramRun, runProgram } from './run-program.ts'

/** A program to run behind walls: kept from this machine's files, network and processes. */
export interface WalledRun {
  /** Absolute path; the program sees itself as `/program`. */
  binary: string
  args: readonly string[]
  /** A folder of the caller's with `FILES_FOLDER` in it, which the program sees as `/work`, to read only. */
  folder: string
  timeoutMs: number
  /** Of each stream; what comes after is not kept. */
  outputBytesMax: number
}

/** Runs a program behind walls; `no-walls` when this system cannot put them up, and then nothing was run. */
export type Sandbox = (run: WalledRun) => Promise<ProgramRun | { outcome: 'no-walls' }>

/** The part of the caller's folder that the program sees. */
export const FILES_FOLDER = 'work'

/** What the script says last on standard error; nothing of the program has run before it. */
const MARK = 'walls are up\n'

/** Where a Linux keeps `unshare`, `mount`, `umount` and `pivot_root`. */
const TOOLS_PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

/** Gives the program namespaces of its own, without the machine's mounts, network, processes, host name or rights. */
const UNSHARE = [
  '--user',
  '--map-root-user',
  '--mount',
  '--net',
  '--pid',
  '--fork',
  '--ipc',
  '--uts',
  '--kill-child=SIGKILL',
]

/**
 * Builds the program's own root in an empty file system, moves into it and lets go of the old one. What is laid into
 * it can only be read: the folder, the program, and, for one that is not linked statically, the system's programs and
 * libraries. The mark says that all of that was done; without it nothing of the program was started.
 */
const SCRIPT = `set -eu
PATH=${TOOLS_PATH}
root=$1 work=$2 program=$3 interpreter=$4 keep=$5 mark=$6
shift 6
mount -t tmpfs -o mode=0755,size=1m,nosuid,nodev none "$root"
cd "$root"
mkdir dev old proc tmp usr work
lay() {
  mount --bind "$1" "$2"
  # What already may not hold programs has to stay so.
  mount -o remount,bind,ro,nosuid,nodev "$2" 2> /dev/null || mount -o remount,bind,ro,nosuid,nodev,noexec "$2"
}
system=
for folder in usr/bin usr/sbin usr/lib usr/lib32 usr/lib64 bin sbin lib lib32 lib64; do
  if [ -L "/$folder" ]; then cp -P "/$folder" "$folder"
  elif [ -d "/$folder" ]; then mkdir -p "$folder"; lay "/$folder" "$folder"; system="/$folder $system"
  fi
done
lay "$work" work
: > program
lay "$program" program
if [ -n "$interpreter" ] && [ ! -e ".$interpreter" ]; then
  mkdir -p ".\${interpreter%/*}"
  : > ".$interpreter"
  lay "$interpreter" ".$interpreter"
fi
: > dev/null
mount --bind /dev/null dev/null
mount -t proc -o ro,nosuid,nodev,noexec proc proc 2> dev/null || :
pivot_root . old
cd /work
[ "$keep" = no ] || system=
umount -n -l /old $system
unset PWD OLDPWD
printf '%s' "$mark" >&2
exec /program "$@"
`

/** Walls of Linux namespaces, where `unshare` exists and may be used by this process. */
export const namespaceSandbox: Sandbox = async ({ binary, args, folder, ...limits }) => {
  const unshare = await findTool('unshare')
  const program = unshare && (await describeProgram(binary))
  if (!unshare || !program) return { outcome: 'no-walls' }
  const root = join(folder, 'root')
  await mkdir(root, { recursive: true })
  const given = [root, join(folder, FILES_FOLDER), program.path, program.interpreter]
  const run = await runProgram(
    unshare,
    [
      ...UNSHARE,
      '/bin/sh',
      ...['-c', SCRIPT, 'sh', ...given, program.isStatic ? 'no' : 'yes', MARK, ...args],
    ],
    { folder, ...limits, outputBytesMax: limits.outputBytesMax + MARK.length },
  )
  if (!run.stderr.startsWith(MARK))
    return run.outcome === 'timed-out' ? { ...run, stdout: '', stderr: '' } : { outcome: 'no-walls' }
  const stderr = run.stderr.slice(MARK.length)
  // What a shell answers for a program that it cannot start.
  const isStarted = run.outcome !== 'ended' || ![126, 127].includes(run.exitCode)
  const stdout = run.stdout.slice(0, limits.outputBytesMax)
  return { ...run, stdout, stderr, outcome: isStarted ? run.outcome : 'not-started' }
}

/** Whether this system lets this process put up walls. */
export async function hasWalls(sandbox: Sandbox = namespaceSandbox): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-walls-'))
  try {
    await mkdir(join(folder, FILES_FOLDER))
    const limits = { folder, timeoutMs: 5_000, outputBytesMax: 1_024 }
    const run = await sandbox({ binary: '/bin/sh', args: ['-c', 'exit 0'], ...limits })
    return run.outcome === 'ended'
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function findTool(name: string): Promise<string | null> {
  for (const folder of TOOLS_PATH.split(':')) {
    const path = join(folder, name)
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return null
}

interface Program {
  path: string
  /** What a script names in its first line; empty for a program that needs none. */
  interpreter: string
  /** Linked statically: it needs none of the system's libraries. */
  isStatic: boolean
}

const HEAD_BYTES = 4_096
const ELF_64_LITTLE = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1])
const NEEDS_INTERPRETER = 3

/** What a program needs beside itself; null when it cannot be read. */
async function describeProgram(binary: string): Promise<Program | null> {
  try {
    const path = await realpath(binary)
    const file = await open(path)
    const head = Buffer.alloc(HEAD_BYTES)
    await file.read(head, 0, HEAD_BYTES, 0).finally(() => file.close())
    const named = /^#! *(\/[^\s\0]+)/.exec(head.toString('latin1'))?.[1]
    return { path, interpreter: named ? await realpath(named) : '', isStatic: !named && isStaticElf(head) }
  } catch {
    return null
  }
}

/** Whether a program is ELF without a segment that names a loader; false where the head of the file does not tell. */
function isStaticElf(head: Buffer): boolean {
  if (!head.subarray(0, ELF_64_LITTLE.length).equals(ELF_64_LITTLE)) return false
  const offset = Number(head.readBigUInt64LE(32))
  const size = head.readUInt16LE(54)
  const count = head.readUInt16LE(56)
  if (count === 0 || size === 0 || offset + size * count > head.length) return false
  const types = Array.from({ length: count }, (_, n) => head.readUInt32LE(offset + n * size))
  return !types.includes(NEEDS_INTERPRETER)
}
