import { execFile } from 'node:child_process'
import { access, chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { readArguments } from '../../../../runtime/cli/arguments.ts'
import { apply } from '../../../../runtime/cli/commands/apply.ts'
import { plan } from '../../../../runtime/cli/commands/plan.ts'
import { authorsOf as askAuthors, readCommit } from '../../../../runtime/cli/desired/commit.ts'
import { listLinks } from '../../../../runtime/cli/desired/links.ts'

// A pipeline reads folders that strangers wrote, beside a token: nothing that lies in them is run.

const run = promisify(execFile)
const ANN = 'Ann <ann@example.com>'
let root: string
let checkout: string
let traces: string

const git = async (folder: string, ...args: string[]) => {
  const named = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com']
  const { stdout } = await run('git', ['-C', folder, ...named, ...args])
  return stdout.trim()
}
const hasRun = () =>
  access(traces).then(
    () => true,
    () => false,
  )
const authorsOf = async (folder: string) => {
  const env = { PATH: process.env['PATH'], HOME: root }
  return (await readCommit(folder, readArguments([folder], plan), env)).authors
}

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-commit-'))
  checkout = join(root, 'checkout')
  traces = join(root, 'ran')
  await mkdir(checkout)
  await git(checkout, 'init', '--quiet', '--initial-branch', 'main')
  await git(checkout, 'commit', '--quiet', '--allow-empty', '-m', 'first')
  return () => rm(root, { recursive: true, force: true })
})

/** A program that leaves a trace. */
async function trap(folder: string): Promise<string> {
  const program = join(folder, 'trap.sh')
  await writeFile(program, `#!/bin/sh\necho ran >> ${traces}\nexit 0\n`)
  await chmod(program, 0o755)
  return program
}

/** Write an empty commit that says it is signed. */
async function commitSigned(folder: string, message: string): Promise<void> {
  const empty = join(root, 'empty')
  await writeFile(empty, '')
  const tree = await git(folder, 'hash-object', '-t', 'tree', '-w', empty)
  const who = 'Eve <eve@example.com> 1700000000 +0000'
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n aaaa\n -----END PGP SIGNATURE-----'
  const file = join(root, 'commit')
  await writeFile(file, `tree ${tree}\nauthor ${who}\ncommitter ${who}\n${signature}\n\n${message}\n`)
  const commit = await git(folder, 'hash-object', '-t', 'commit', '-w', '--literally', file)
  await git(folder, 'update-ref', 'refs/heads/main', commit)
}

/** Settings that make Git run the program on one occasion or another. */
async function arm(folder: string): Promise<void> {
  const program = await trap(folder)
  await git(folder, 'config', 'log.showSignature', 'true')
  for (const key of ['gpg.program', 'core.fsmonitor', 'core.pager', 'diff.external', 'core.sshCommand'])
    await git(folder, 'config', key, program)
}

describe('the commit of a folder', () => {
  it('is not asked of a repository that lies in the folder as ordinary files', async () => {
    const bare = join(root, 'bare')
    await mkdir(bare)
    await git(bare, 'init', '--quiet', '--bare', '--initial-branch', 'main')
    await commitSigned(bare, 'x')
    await arm(bare)
    const folder = join(checkout, 'fleet')
    await cp(bare, folder, { recursive: true })
    await git(checkout, 'add', '--all', '--force')
    await git(checkout, 'commit', '--quiet', '-m', 'a change')
    const authors = await authorsOf(folder)
    expect([await hasRun(), authors]).toEqual([false, [ANN]])
    // Neither where there is no checkout around it.
    expect(await authorsOf(bare)).toEqual([])
    expect(await hasRun()).toBe(false)
  })

  it("is told without running what the checkout's own settings name", async () => {
    await commitSigned(checkout, 'x')
    await arm(checkout)
    expect(await authorsOf(checkout)).toEqual(['Eve <eve@example.com>'])
    expect(await hasRun()).toBe(false)
  })

  it('is told for a folder in a checkout and in another worktree of it', async () => {
    const folder = join(checkout, 'deep', 'fleet')
    await mkdir(folder, { recursive: true })
    expect(await authorsOf(folder)).toEqual([ANN])
    const worktree = join(root, 'worktree')
    await git(checkout, 'worktree', 'add', '--quiet', worktree)
    expect(await readFile(join(worktree, '.git'), 'utf8')).toContain('gitdir')
    expect(await authorsOf(worktree)).toEqual([ANN])
  })

  it('is told where it belongs to another user, as in the containers of pipelines', async ({ skip }) => {
    if (process.getuid?.() !== 0) skip('only root can give it away')
    await run('chown', ['-R', '4242:4242', checkout])
    expect(await authorsOf(checkout)).toEqual([ANN])
  })

  it('is not asked for anything where Git cannot say who made it', async () => {
    const message = join(root, 'message')
    const line = `Co-authored-by: ${'n'.repeat(400)} <n@example.com>\n`
    await writeFile(message, `a change\n\n${line.repeat(45_000)}`)
    await git(checkout, 'commit', '--quiet', '--allow-empty', '--file', message)
    await expect(authorsOf(checkout)).rejects.toThrow(/who made the commit cannot be read/)
  })

  it('is whom the caller names where Git is not installed, and nobody says nothing', async () => {
    const without = { PATH: root, HOME: root }
    const read = (...more: string[]) =>
      readCommit(checkout, readArguments([checkout, ...more], apply), without)
    await expect(read()).rejects.toThrow('git is not installed here')
    await expect(read('--author', 'zoe')).rejects.toThrow('git is not installed here')
    expect(await read('--author', 'zoe', '--commit', 'abc')).toMatchObject({ sha: 'abc', authors: ['zoe'] })
  })

  it('says where older commits are not there', async () => {
    await git(checkout, 'commit', '--quiet', '--allow-empty', '-m', 'second')
    const shallow = join(root, 'shallow')
    await run('git', ['clone', '--quiet', '--depth', '1', `file://${checkout}`, shallow])
    const env = { PATH: process.env['PATH'], HOME: root }
    const isShallow = async (folder: string) =>
      (await readCommit(folder, readArguments([folder], plan), env)).isShallow
    expect([await isShallow(checkout), await isShallow(shallow)]).toEqual([false, true])
  })

  it('is nobody where there is no repository', async () => {
    expect(await authorsOf(root)).toEqual([])
    expect(await authorsOf(join(root, 'nowhere'))).toEqual([])
  })
})

describe('the authors of a document', () => {
  const write = async (who: string, file: string, text: string) => {
    await writeFile(join(checkout, file), text)
    await git(checkout, 'add', '--all')
    const named = ['-c', `user.name=${who}`, '-c', `user.email=${who}@example.com`]
    await git(checkout, ...named, 'commit', '--quiet', '-m', file)
  }
  const authorsFor = async (files: string[], more: Record<string, string> = {}, ranSha?: string) => {
    const env = { PATH: process.env['PATH'], HOME: root, ...more }
    const commit = await readCommit(checkout, readArguments([checkout], plan), env)
    const paths = files.map((file) => join(checkout, file))
    return askAuthors({ files: paths, ranSha }, commit, env)
  }

  it('hold whoever wrote each of its files, also where somebody else committed on top of it', async () => {
    await write('ann', 'edge.yaml', 'a')
    await write('eve', 'config.yaml', 'b')
    await write('zoe', 'other.yaml', 'c')
    await write('bot', 'README.md', 'formatted')
    const authors = await authorsFor(['edge.yaml', 'config.yaml'])
    expect([...authors].sort()).toEqual(['ann', 'bot', 'eve'].map((name) => `${name} <${name}@example.com>`))
  })

  it('hold the writer of a file whose name Git would read as a pattern', async () => {
    await write('ann', ':(exclude)*', 'a')
    await write('bot', 'README.md', 'formatted')
    expect(await authorsFor([':(exclude)*'])).toContain('ann <ann@example.com>')
  })

  it('hold whoever started the run and whoever wrote, however many others a message names', async () => {
    await writeFile(join(checkout, 'edge.yaml'), 'a')
    await git(checkout, 'add', '--all')
    const others = Array.from(
      { length: 250 },
      (_, index) => `Co-authored-by: n${index} <n${index}@example.com>`,
    )
    await git(checkout, 'commit', '--quiet', '-m', `a change\n\n${others.join('\n')}`)
    await git(checkout, 'commit', '--quiet', '--allow-empty', '-m', `another\n\n${others.join('\n')}`)
    const args = readArguments([checkout, '--author', 'zoe@example.com'], apply)
    const env = { PATH: process.env['PATH'], HOME: root, GITHUB_TRIGGERING_ACTOR: 'mallory' }
    const commit = await readCommit(checkout, args, env)
    for (const authors of [
      commit.authors,
      await askAuthors({ files: [join(checkout, 'edge.yaml')] }, commit, env),
    ]) {
      expect(authors).toHaveLength(200)
      expect(authors).toEqual(expect.arrayContaining(['zoe@example.com', 'mallory', ANN]))
    }
  })

  it('are told with Git asked once whether it is there and has a commit, however many documents there are', async () => {
    for (const name of ['a.yaml', 'b.yaml', 'c.yaml']) await write('ann', name, name)
    const real = (await run('which', ['git'])).stdout.trim()
    const asked = join(root, 'asked')
    await writeFile(join(root, 'git'), `#!/bin/sh\necho "$*" >> ${asked}\nexec ${real} "$@"\n`)
    await chmod(join(root, 'git'), 0o755)
    const env = { PATH: `${root}:${process.env['PATH']}`, HOME: root }
    const commit = await readCommit(checkout, readArguments([checkout], plan), env)
    for (const name of ['a.yaml', 'b.yaml', 'c.yaml'])
      expect(await askAuthors({ files: [join(checkout, name)] }, commit, env)).toContain(
        'ann <ann@example.com>',
      )
    const lines = (await readFile(asked, 'utf8')).split('\n')
    expect(lines.filter((line) => line === '--version')).toHaveLength(1)
    expect(lines.filter((line) => line.endsWith(' HEAD^{commit}'))).toHaveLength(1)
  })

  it('hold everybody who changed its files since the commit whose text runs, and nobody of before', async () => {
    await write('ann', 'edge.yaml', 'a')
    const ran = await git(checkout, 'rev-parse', 'HEAD')
    await write('dave', 'edge.yaml', 'b')
    await write('zoe', 'other.yaml', 'c')
    await write('bot', 'edge.yaml', 'b, formatted')
    await write('eve', 'README.md', 'words')
    const named = (...names: string[]) => names.map((name) => `${name} <${name}@example.com>`)
    expect((await authorsFor(['edge.yaml'], {}, ran)).sort()).toEqual(named('bot', 'dave', 'eve'))
    // One that this history does not hold, as after it was rewritten: anybody may have changed it since.
    expect((await authorsFor(['edge.yaml'], {}, `${'0'.repeat(39)}1`)).sort()).toEqual(
      named('ann', 'bot', 'dave', 'eve'),
    )
    // Nor can anybody say who wrote what of it where nothing ran.
    const all = named('ann', 'bot', 'dave', 'eve')
    expect((await authorsFor(['edge.yaml'])).sort()).toEqual(all)
    expect((await authorsFor(['edge.yaml'], {}, '--output=/tmp/x')).sort()).toEqual(all)
  })

  it('hold whoever wrote a document that nothing of ran, also under a former name, whoever touched it since', async () => {
    await write('mallory', 'pay.yaml', 'kind:   WorkloadConfig\n# evil\n')
    const before = await git(checkout, 'rev-parse', 'HEAD')
    await write('bot', 'pay.yaml', 'kind: WorkloadConfig\n# evil\n')
    const env = { CI_COMMIT_BEFORE_SHA: before, GITLAB_USER_LOGIN: 'bot' }
    expect(await authorsFor(['pay.yaml'], env)).toContain('mallory <mallory@example.com>')
    await git(checkout, 'mv', 'pay.yaml', 'shop.yaml')
    await write('bot', 'README.md', 'renamed')
    await write('bot', 'README.md', 'formatted')
    expect(await authorsFor(['shop.yaml'])).toContain('mallory <mallory@example.com>')
  })

  it('hold whoever changed a file of a submodule since the commit of it that runs, and before where none does', async () => {
    const inner = join(checkout, 'inner')
    await mkdir(inner)
    await git(inner, 'init', '--quiet')
    const change = async (who: string, text: string) => {
      await writeFile(join(inner, 'c.yaml'), text)
      await git(inner, 'add', '--all')
      const named = ['-c', `user.name=${who}`, '-c', `user.email=${who}@example.com`]
      await git(inner, ...named, 'commit', '--quiet', '-m', text)
    }
    await change('ann', 'a')
    await write('mia', 'more', 'with a submodule')
    const ran = await git(checkout, 'rev-parse', 'HEAD')
    await change('mallory', 'b')
    await change('bot', 'c')
    await write('mia', 'more', 'moved')
    const named = (...names: string[]) => names.map((name) => `${name} <${name}@example.com>`)
    expect((await authorsFor(['inner/c.yaml'], {}, ran)).sort()).toEqual(named('bot', 'mallory', 'mia'))
    expect((await authorsFor(['inner/c.yaml'])).sort()).toEqual(named('ann', 'bot', 'mallory', 'mia'))
  })

  it('hold whoever wrote a file behind hundreds of commits, and are told of nobody where more people did than can be told', async () => {
    await write('mallory', 'edge.yaml', 'evil')
    const grow = async (who: (at: number) => string) => {
      const main = await git(checkout, 'rev-parse', 'HEAD')
      const text = Array.from({ length: 250 }, (_, at) =>
        [
          'commit refs/heads/main',
          `committer ${who(at)} <${who(at)}@example.com> ${1_800_000_000 + at} +0000`,
          `data 1\nx${at === 0 ? `\nfrom ${main}` : ''}`,
          `M 100644 inline edge.yaml\ndata 5\n${who(0).padStart(2)}${String(at).padStart(3, '0')}\n`,
        ].join('\n'),
      ).join('')
      const file = join(root, 'stream')
      await writeFile(file, text)
      await run('sh', ['-c', 'git -C "$0" fast-import --quiet < "$1"', checkout, file])
    }
    await grow(() => 'b')
    expect((await authorsFor(['edge.yaml'])).sort()).toEqual(
      ['b', 'mallory'].map((name) => `${name} <${name}@example.com>`),
    )
    await grow((at) => `n${at}`)
    await expect(authorsFor(['edge.yaml'])).rejects.toThrow(
      /people changed .*edge\.yaml.* only 200 can be told/,
    )
  })

  it('hold everybody since then of a file that had another name', async () => {
    await write('ann', 'edge.yaml', 'a')
    const ran = await git(checkout, 'rev-parse', 'HEAD')
    await write('dave', 'edge.yaml', 'b')
    await git(checkout, 'mv', 'edge.yaml', 'core.yaml')
    await write('bot', 'README.md', 'renamed')
    await write('zoe', 'other.yaml', 'c')
    await write('eve', 'new.yaml', 'd')
    await write('bot', 'README.md', 'formatted')
    expect(await authorsFor(['core.yaml'], {}, ran)).toContain('dave <dave@example.com>')
    // And of one that is new nobody who only wrote others.
    expect((await authorsFor(['new.yaml'], {}, ran)).sort()).toEqual(
      ['bot', 'eve'].map((name) => `${name} <${name}@example.com>`),
    )
  })

  it('hold whoever led a link on the way to another text, and whoever moved a submodule', async () => {
    await mkdir(join(checkout, 'v1'))
    await mkdir(join(checkout, 'v2'))
    await write('ann', 'v1/c.yaml', 'a')
    await write('eve', 'v2/c.yaml', 'b')
    await symlink('v1', join(checkout, 'configs'))
    await write('zoe', 'README.md', 'now with a link')
    await rm(join(checkout, 'configs'))
    await symlink('v2', join(checkout, 'configs'))
    await write('dave', 'notes', 'and now to the other')
    await symlink('configs/../configs/c.yaml', join(checkout, 'named.yaml'))
    await write('carol', 'more', 'a link over a link')
    await write('bot', 'README.md', 'formatted')
    const links = await listLinks(join(checkout, 'named.yaml'))
    expect(links).toEqual(['named.yaml', 'configs', 'configs'].map((name) => join(checkout, name)))
    const files = [...links.map((link) => relative(checkout, link)), 'v2/c.yaml']
    const authors = await authorsFor(files)
    for (const name of ['carol', 'dave', 'eve', 'bot'])
      expect(authors).toContain(`${name} <${name}@example.com>`)

    const inner = join(checkout, 'inner')
    await mkdir(inner)
    await git(inner, 'init', '--quiet')
    await writeFile(join(inner, 'c.yaml'), 'a')
    await git(inner, 'add', '--all')
    await git(inner, 'commit', '--quiet', '-m', 'a config')
    await write('mia', 'more', 'with a submodule')
    await write('bot', 'README.md', 'formatted again')
    expect(await authorsFor(['inner/c.yaml'])).toContain('mia <mia@example.com>')
  })

  it('hold everybody since the commit that the pipeline says was there before', async () => {
    const before = await git(checkout, 'rev-parse', 'HEAD')
    await write('ann', 'edge.yaml', 'a')
    await write('bot', 'README.md', 'formatted')
    const ann = 'ann <ann@example.com>'
    expect(await authorsFor([])).not.toContain(ann)
    expect(await authorsFor([], { CI_COMMIT_BEFORE_SHA: before })).toContain(ann)
    const event = join(root, 'event.json')
    await writeFile(event, JSON.stringify({ before }))
    expect(await authorsFor([], { GITHUB_EVENT_PATH: event })).toContain(ann)
    // Nothing is taken for a commit that is none.
    const none = await authorsFor([], { CI_COMMIT_BEFORE_SHA: '0'.repeat(40) })
    expect(none).toEqual(await authorsFor([], { CI_COMMIT_BEFORE_SHA: '--output=/tmp/x' }))
  })
})
