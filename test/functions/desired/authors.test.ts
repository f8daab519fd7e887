import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { configHash } from '../../../lib/model/config-hash.ts'
import {
  areCommitAuthorsNoted,
  deleteOldCommitAuthors,
  noteCommitAuthors,
} from '../../../lib/store/commit-authors.ts'
import type { ApprovalRecord } from '../../../lib/wire/approvals.ts'
import type { DesiredResult, ManagedConfigRecord } from '../../../lib/wire/desired.ts'
import { readArguments } from '../../../runtime/cli/arguments.ts'
import { apply } from '../../../runtime/cli/commands/apply.ts'
import { readCommit } from '../../../runtime/cli/desired/commit.ts'
import { createCompleteEdition } from '../../../runtime/editions.ts'
import { createFleetContext, type FakeAgent, type FleetTestContext, fakeAgent } from '../../support/fleet.ts'
import { invoke, type SignedIn, signIn } from '../../support/invoke.ts'
import { useTestDatabase } from '../../support/postgres.ts'
import { configYaml, pushConfig } from '../../support/push-config.ts'

// Nobody approves his own change: whoever the commit names as its author never counts as its second person.

const database = await useTestDatabase()
const run = promisify(execFile)
let ctx: FleetTestContext
let agent: FakeAgent
let pipeline: SignedIn
let ann: SignedIn
let bob: SignedIn
let folder: string
const TEXT = configYaml()
const OTHER = `${TEXT}# another text\n`

const git = (...args: string[]) => run('git', ['-C', folder, ...args])
const by = (name: string, email: string) => ['-c', `user.name=${name}`, '-c', `user.email=${email}`]
const commit = (author: string[], message: string, ...more: string[]) =>
  git(...author, 'commit', '--quiet', '--allow-empty', '-m', message, ...more)

beforeAll(async () => {
  ctx = await createFleetContext(database, { edition: createCompleteEdition() })
  ann = await signIn(ctx, { groups: ['editor'] })
  bob = await signIn(ctx, { groups: ['editor'] })
  pipeline = await signIn(ctx, { groups: ['editor'] })
})
beforeEach(async () => {
  await database.pool.execute('delete from approvals')
  await database.pool.execute('delete from managed_configs')
  await database.pool.execute('delete from commit_authors')
  await database.pool.execute('delete from commit_claims')
  agent = fakeAgent(ctx.fleet)
  await ctx.advance(300)
  folder = await mkdtemp(join(tmpdir(), 'muster-authors-'))
  await git('init', '--quiet', '--initial-branch', 'main')
  return () => rm(folder, { recursive: true, force: true })
})
afterAll(() => ctx.close())

const path = () => `/api/workloads/${agent.workloadId}/config`

/** What `muster apply` says of its commit, as the service is told it. */
async function commitOf(env: Record<string, string>, ...options: string[]) {
  const args = readArguments([folder, ...options], apply)
  const { sha, author, authors } = await readCommit(folder, args, { PATH: process.env['PATH'], ...env })
  return { commit_sha: sha, commit_author: author, commit_authors: authors }
}

async function wish(config: string, said: object): Promise<DesiredResult> {
  const body = { owner: 'platform', config, ...said }
  const { status, json } = await invoke(ctx, `POST ${path()}/desired`, { as: pipeline.token, body })
  expect({ status, json }).toMatchObject({ status: 200 })
  return json as DesiredResult
}

async function approve(id: string | undefined, as: SignedIn): Promise<unknown[]> {
  const body = { comment: 'fine' }
  const { status, json } = await invoke(ctx, `POST ${path()}/approvals/${id}/approve`, {
    as: as.token,
    body,
  })
  return [status, (json as { reason?: string }).reason]
}

describe('whoever made the commit does not approve it', () => {
  it('on GitHub, where the environment names only who started the run', async () => {
    await commit(by('Ann', ann.email.toUpperCase()), 'mine')
    const { stdout } = await git('rev-parse', 'HEAD')
    const said = await commitOf({ GITHUB_SHA: stdout.trim(), GITHUB_ACTOR: 'release-bot' })
    expect(said).toMatchObject({
      commit_sha: stdout.trim(),
      commit_author: `Ann <${ann.email.toUpperCase()}>`,
    })
    const { approval_id: id } = await wish(TEXT, said)
    expect(await approve(id, ann)).toEqual([409, 'author'])
    expect(await approve(id, bob)).toEqual([200, undefined])
  })

  it('on GitHub, where a merge brings it and somebody else merged it', async () => {
    await commit(by('Root', 'root@example.com'), 'first')
    await git('checkout', '--quiet', '-b', 'change')
    await commit(by('Ann', ann.email), 'mine')
    await git('checkout', '--quiet', 'main')
    await git(...by('Bot', 'bot@example.com'), 'merge', '--quiet', '--no-ff', '-m', 'merged', 'change')
    const { approval_id: id } = await wish(
      TEXT,
      await commitOf({ GITHUB_SHA: 'c0ffee', GITHUB_ACTOR: 'bot' }),
    )
    expect(await approve(id, ann)).toEqual([409, 'author'])
  })

  it('on GitLab, also without the repository, and under Git as it is', async () => {
    const said = await commitOf({ CI_COMMIT_SHA: 'c0ffee', CI_COMMIT_AUTHOR: `Ann <${ann.email}>` })
    expect(said).toMatchObject({ commit_sha: 'c0ffee', commit_author: `Ann <${ann.email}>` })
    expect(await approve((await wish(TEXT, said)).approval_id, ann)).toEqual([409, 'author'])
    await commit(by('Ann', ann.email), 'mine')
    expect(await approve((await wish(OTHER, await commitOf({}))).approval_id, ann)).toEqual([409, 'author'])
  })

  it('on GitLab, whoever pushed or merged, whomever the commit names', async () => {
    await commit(by('Somebody', 'nobody@example.com'), 'forged')
    const env = { CI_COMMIT_AUTHOR: 'Somebody <nobody@example.com>', GITLAB_USER_EMAIL: ann.email }
    const said = await commitOf(env)
    expect(said).toMatchObject({ commit_author: 'Somebody <nobody@example.com>' })
    expect(await approve((await wish(TEXT, said)).approval_id, ann)).toEqual([409, 'author'])
  })

  it('where they are its committer or a second author', async () => {
    await commit(by('Ann', ann.email), 'taken over', '--author', 'Bob <bob@example.com>')
    expect(await approve((await wish(TEXT, await commitOf({}))).approval_id, ann)).toEqual([409, 'author'])
    await commit(by('Bob', 'bob@example.com'), `ours\n\nCo-authored-by: Ann <${ann.email}>`)
    expect(await approve((await wish(OTHER, await commitOf({}))).approval_id, ann)).toEqual([409, 'author'])
  })

  it('where the caller names them, and still whom Git names', async () => {
    await commit(by('Bob', bob.email), 'his')
    const { approval_id: id } = await wish(TEXT, await commitOf({}, '--author', `Ann <${ann.email}>`))
    expect(await approve(id, ann)).toEqual([409, 'author'])
    expect(await approve(id, bob)).toEqual([409, 'author'])
  })

  it('by the name that an identity provider gave them, where that is all that the commit and muster know', async () => {
    await database.pool.execute(`update users set email = 'Ann of Shops' where id = $1`, [ann.userId])
    const said = await commitOf({ CI_COMMIT_AUTHOR: 'ANN OF SHOPS <12+ann@users.noreply.github.com>' })
    const { approval_id: id } = await wish(TEXT, said)
    expect(await approve(id, ann)).toEqual([409, 'author'])
    await database.pool.execute(`update users set email = $2 where id = $1`, [ann.userId, ann.email])
  })
})

describe('whoever made what Git asked for before', () => {
  const others = { commit_author: 'Carl <carl@example.com>' }
  const mine = () => ({ commit_author: `Ann <${ann.email}>`, commit_sha: 'a'.repeat(40) })
  const ran = async () => {
    const { json } = await invoke(ctx, `GET /api/managed-configs?workload_id=${agent.workloadId}`, {
      as: pipeline.token,
    })
    return (json as ManagedConfigRecord[])[0]?.ran_commit_sha
  }

  it('does not approve what comes in its place before anybody has looked at it', async () => {
    await wish(TEXT, mine())
    const { approval_id: id } = await wish(OTHER, others)
    expect(await approve(id, ann)).toEqual([409, 'author'])
    // Nor where that was rejected, or another one comes in the place of that one.
    await invoke(ctx, `POST ${path()}/approvals/${id}/reject`, { as: bob.token, body: { comment: 'no' } })
    const third = await wish(`${TEXT}# a third text\n`, others)
    expect(await approve(third.approval_id, ann)).toEqual([409, 'author'])
    expect(await ran()).toBeUndefined()
  })

  it('does not where Git let go of the workload in between, whatever was pushed there by hand meanwhile', async () => {
    await wish(TEXT, mine())
    await release()
    await pushConfig(ctx.fleet, agent.workloadId, `${TEXT}# by hand\n`)
    const second = await wish(OTHER, others)
    expect(await approve(second.approval_id, ann)).toEqual([409, 'author'])
    await release()
    const third = await wish(`${TEXT}# a third text\n`, others)
    expect(await approve(third.approval_id, ann)).toEqual([409, 'author'])
  })

  it('does not where theirs was taken back before Git let go of the workload, and does where it ran', async () => {
    await push((await wish(OTHER, others)).approval_id)
    await push((await wish(TEXT, mine())).approval_id)
    await release()
    const next = await wish(`${TEXT}# typo\n`, others)
    expect(await approve(next.approval_id, ann)).toEqual([200, undefined])
    await release()
    await ctx.advance(300)
    await push((await wish(`${TEXT}# anew\n`, mine())).approval_id)
    await rollBackTo(OTHER)
    await release()
    const again = await wish(`${TEXT}# formatted\n`, others)
    expect(await approve(again.approval_id, ann)).toEqual([409, 'author'])
  })

  it('does not where the pipeline asks under another owner’s name since', async () => {
    await wish(TEXT, mine())
    await release()
    const other = { ...others, owner: 'elsewhere' }
    const second = await wish(OTHER, other)
    expect(await approve(second.approval_id, ann)).toEqual([409, 'author'])
    await release('elsewhere')
    // What another account asked for has to do with nobody else's: it could name anybody.
    const body = { owner: 'third', config: `${TEXT}# a third text\n`, ...others }
    const third = await invoke(ctx, `POST ${path()}/desired`, { as: bob.token, body })
    expect(await approve((third.json as DesiredResult).approval_id, ann)).toEqual([200, undefined])
  })

  it('does once theirs was approved by somebody else and pushed, and Git is told by whom the next one is', async () => {
    const { approval_id: id } = await wish(TEXT, mine())
    expect(await approve(id, bob)).toEqual([200, undefined])
    const pushed = await invoke(ctx, `POST ${path()}/approvals/${id}/push`, {
      as: bob.token,
      body: { comment: 'go' },
    })
    expect(pushed.status).toBe(202)
    expect(await ran()).toBe('a'.repeat(40))
    const next = await wish(OTHER, { ...others, commit_sha: 'b'.repeat(40) })
    expect(await approve(next.approval_id, ann)).toEqual([200, undefined])
    expect(await ran()).toBe('a'.repeat(40))
  })
})

async function release(owner = 'platform'): Promise<void> {
  const gone = `DELETE ${path()}/desired?owner=${owner}`
  expect((await invoke(ctx, gone, { as: pipeline.token })).status).toBe(204)
}

async function rollBackTo(text: string): Promise<void> {
  const way = `/api/workloads/${agent.workloadId}/configs/${configHash(text)}/rollback`
  const back = await invoke(ctx, `POST ${way}`, { as: bob.token, body: { comment: 'bad' } })
  expect(back.status, JSON.stringify(back.json)).toBe(202)
  agent.apply()
  await ctx.advance(300)
}

const carl = { commit_author: 'Carl <carl@example.com>' }
async function push(id: string | undefined): Promise<void> {
  expect(await approve(id, bob)).toEqual([200, undefined])
  const body = { comment: 'go' }
  const pushed = await invoke(ctx, `POST ${path()}/approvals/${id}/push`, { as: bob.token, body })
  expect(pushed.status).toBe(202)
  agent.apply()
  await ctx.advance(300)
}

it('whoever made what ran, and was replaced in order, approves what others make after that', async () => {
  await push((await wish(TEXT, { commit_author: `Ann <${ann.email}>` })).approval_id)
  await push((await wish(OTHER, carl)).approval_id)
  const third = await wish(`${OTHER}# a third text\n`, carl)
  expect(await approve(third.approval_id, ann)).toEqual([200, undefined])
})

it('whoever made what was rolled back since does not approve what brings it back on top of something else', async () => {
  await push((await wish(TEXT, carl)).approval_id)
  await push((await wish(OTHER, { commit_author: `Ann <${ann.email}>` })).approval_id)
  await wish(`${OTHER}# formatted\n`, carl)
  await rollBackTo(TEXT)
  const again = await wish(`${OTHER}# formatted anew\n`, carl)
  expect(await approve(again.approval_id, ann)).toEqual([409, 'author'])
})

describe('a text is its authors’ for good', () => {
  const request = async (draft_yaml: string) => {
    const body = { draft_yaml, comment: 'by hand' }
    const { json } = await invoke(ctx, `POST ${path()}/approvals`, { as: bob.token, body })
    return (json as ApprovalRecord).id
  }
  const said = () => ({ commit_author: `Ann <${ann.email}>` })
  it('also once Git holds another one, or lets go of the workload', async () => {
    await wish(TEXT, said())
    await wish(OTHER, { commit_author: 'Carl <carl@example.com>' })
    await release()
    expect(await approve(await request(TEXT), ann)).toEqual([409, 'author'])
    expect(await approve(await request(`${TEXT}# by hand\n`), ann)).toEqual([200, undefined])
  })

  it('also of a later commit with the same text, which asks for nothing more', async () => {
    const { approval_id: id } = await wish(TEXT, { commit_author: 'Carl <carl@example.com>' })
    expect(await wish(TEXT, said())).toMatchObject({ action: 'waits' })
    expect(await approve(id, ann)).toEqual([409, 'author'])
  })

  it('and they are forgotten only with a text that nobody requested, wrote or keeps; so many are kept of one', async () => {
    const { config_hash: hash } = await wish(TEXT, said())
    const later = new Date(ctx.clock.now().getTime() + 1)
    const claimOf = (configHash: string) => ({ configHash, byId: pipeline.userId, place: agent.workloadId })
    const spareClaim = claimOf(configHash('spare'))
    const names = Array.from({ length: 1_100 }, (_, at) => ({ name: `author ${at}`, said: null }))
    await noteCommitAuthors(database.pool, spareClaim, names.slice(0, 300), ctx.clock)
    await noteCommitAuthors(database.pool, spareClaim, names.slice(300), ctx.clock)
    const claims = () =>
      database.pool.query<{ hash: string }>('select config_hash as hash from commit_claims')
    const count = async () =>
      (await database.pool.query('select config_hash, count(*)::int as n from commit_authors group by 1'))
        .length
    const spare = `select from commit_authors where config_hash = '${configHash('spare')}'`
    expect(await database.pool.query(spare)).toHaveLength(400)
    // Made-up names keep nobody away who has an account.
    await noteCommitAuthors(
      database.pool,
      spareClaim,
      [bob.email, 'nobody'].map((name) => ({ name, said: name })),
      ctx.clock,
    )
    expect(await database.pool.query(spare)).toHaveLength(401)
    expect(await areCommitAuthorsNoted(database.pool, spareClaim, [bob.email])).toBe(true)
    await database.pool.transaction('trim', (tx) => deleteOldCommitAuthors(tx, later))
    expect(await database.pool.query(spare)).toHaveLength(0)
    const claim = claimOf(hash)
    expect([await count(), await areCommitAuthorsNoted(database.pool, claim, [ann.email])]).toEqual([1, true])
    expect(await claims()).toEqual([{ hash }])
  })

  it('also where those of texts that nobody uses are forgotten just as it is asked for again', async () => {
    await wish(TEXT, said())
    await release()
    await database.pool.execute('delete from approvals; delete from unseen_texts')
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    const waits = async (count: number) => expect.poll(() => database.pool.query(waiting)).toHaveLength(count)
    let asked: Promise<DesiredResult>
    let trimmed: Promise<void>
    await database.pool.transaction('test', async (tx) => {
      // Whom its commit names is noted by then, and the request not stored.
      await tx.execute('lock table approvals in exclusive mode')
      asked = wish(TEXT, said())
      await waits(1)
      const later = new Date(ctx.clock.now().getTime() + 1)
      trimmed = database.pool.transaction('trim', (own) => deleteOldCommitAuthors(own, later))
      await Promise.race([trimmed, waits(2)])
    })
    await trimmed!
    expect(await approve((await asked!).approval_id, ann)).toEqual([409, 'author'])
    expect(await approve(await request(TEXT), ann)).toEqual([409, 'author'])
  })

  it('and who asks hears whom of them nobody here is called, as with the addresses that hide one', async () => {
    const hidden = 'ann <12+ann@users.noreply.github.com>'
    const known = `Ann <${ann.email}>`
    const said = { commit_author: hidden, commit_authors: [known, 'Carl', hidden] }
    expect((await wish(TEXT, said)).unknown_authors).toEqual([hidden, 'Carl'])
    expect((await wish(TEXT, { commit_author: known })).unknown_authors).toBeUndefined()
  })

  it('and so does whoever is to decide, each by the whole of how a commit names him, also of earlier commits', async () => {
    await wish(OTHER, { commit_author: 'Dora <dora@elsewhere.example>' })
    const said = {
      commit_author: `Someone <${ann.email}>`,
      commit_authors: ['Carl <carl@elsewhere.example>'],
    }
    const { approval_id: id } = await wish(TEXT, said)
    const read = async () => {
      const { json } = await invoke(ctx, `GET ${path()}/approvals/${id}`, { as: bob.token })
      return (json as ApprovalRecord).help?.unknown_authors
    }
    expect(await read()).toEqual(['Carl <carl@elsewhere.example>', 'Dora <dora@elsewhere.example>'])
    expect(await approve(id, bob)).toEqual([200, undefined])
  })

  it('but not of a text that runs already, which nobody is to approve', async () => {
    await pushConfig(ctx.fleet, agent.workloadId, TEXT)
    agent.apply()
    await ctx.advance(300)
    const again = await wish(TEXT, { commit_author: 'Carl' })
    expect([again.action, again.unknown_authors]).toEqual(['unchanged', undefined])
  })

  it('and a plan notes nobody', async () => {
    await wish(TEXT, { ...said(), dry_run: true })
    expect(await approve(await request(TEXT), ann)).toEqual([200, undefined])
  })
})
