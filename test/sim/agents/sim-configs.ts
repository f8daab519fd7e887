import { createHash } from 'node:crypto'
import type { Dice } from '../time/dice.ts'
import type { Troubles } from '../troubles.ts'

/**
 * What becomes of a config at an agent. With `reverts` the agent goes back to what it ran before and reports only that;
 * with `kills` it applies the config, says so, and dies of it later.
 */
export type Fate = 'works' | 'fails' | 'crashes' | 'hangs' | 'reverts' | 'kills'

const FATES: Record<string, Fate> = {
  fails: 'fails',
  crashes: 'crashes',
  hangs: 'hangs',
  reverts: 'reverts',
  kills: 'kills',
}

/** The kinds of trouble that decide how configs go wrong. */
type Mischiefs = Pick<Troubles, 'selfRollbacks' | 'lateDeaths' | 'goodbyes'>

/** A fault of a config: what goes wrong, and at which agent (its index) or at all of them. */
interface Mischief {
  word: keyof typeof FATES
  whom: 'all' | number
}

/** The configs of a world. The first line of each holds, as a comment, what becomes of it at which agents. */
export class SimConfigs {
  readonly #dice: Dice
  readonly #bodies = new Map<string, string>()
  #versions = 0

  constructor(dice: Dice) {
    this.#dice = dice
  }

  body(hash: string): string {
    return this.#bodies.get(hash) ?? ''
  }

  /** Note the text of a config that the service made itself: a rendered version, or a patched config. */
  learn(hash: string, body: Uint8Array): void {
    if (!this.#bodies.has(hash)) this.#bodies.set(hash, Buffer.from(body).toString('utf8'))
  }

  /**
   * Make the text of a version of a fleet config. It fills an exporter's endpoint with the variable `region`, and goes
   * wrong at some agents less often than other configs do: a campaign would halt in its first wave too often.
   */
  makeVersion(agents: number, has: Mischiefs): string {
    const mischief = this.#dice.chance(0.6) ? null : this.#makeMischief(agents, has)
    const fate = mischief === null ? 'good' : `${mischief.word}=${mischief.whom}`
    return [
      `# config ${++this.#versions}00 ${fate}`,
      'receivers: { otlp: { protocols: { grpc: {} } } }',
      'exporters: { debug: {} }',
      'service:',
      '  telemetry: { resource: { region: "${muster:region}" } }',
      '  pipelines: { traces: { receivers: [otlp], exporters: [debug] } }',
      '',
    ].join('\n')
  }

  /** Make a new config, or pick one that was made before: most work, some fail at all agents or at one. */
  make(agents: number, has: Mischiefs): string {
    const dice = this.#dice
    if (this.#bodies.size > 0 && dice.chance(0.25)) return dice.pick([...this.#bodies.values()])
    const mischief = this.#makeMischief(agents, has)
    const fate = mischief === null ? 'good' : `${mischief.word}=${mischief.whom}`
    const exporter = dice.chance(0.3) ? 'otlp' : 'debug'
    const settings = exporter === 'otlp' ? '{ endpoint: "collector:4317" }' : '{}'
    const body = [
      `# config ${this.#bodies.size + 1} ${fate}`,
      'receivers: { otlp: { protocols: { grpc: {} } } }',
      `exporters: { ${exporter}: ${settings} }`,
      `service: { pipelines: { traces: { receivers: [otlp], exporters: [${exporter}] } } }`,
      '',
    ].join('\n')
    this.#bodies.set(createHash('sha256').update(body).digest('hex'), body)
    return body
  }

  #makeMischief(agents: number, has: Mischiefs): Mischief | null {
    const dice = this.#dice
    if (has.lateDeaths && dice.chance(0.4))
      return { word: 'kills', whom: dice.chance(0.3) ? 'all' : dice.int(agents) }
    // One that hangs at a single agent ends as soon as that one is away.
    if (has.goodbyes && dice.chance(0.3)) return { word: 'hangs', whom: 'all' }
    const kind = dice.next()
    if (kind < 0.52) return null
    if (kind < 0.65) return { word: 'fails', whom: 'all' }
    if (kind < 0.77) return { word: 'fails', whom: dice.int(agents) }
    if (kind < 0.84) return { word: 'crashes', whom: 'all' }
    if (kind < 0.89) return { word: 'hangs', whom: dice.int(agents) }
    if (kind < 0.95 || !has.selfRollbacks) return { word: 'crashes', whom: dice.int(agents) }
    return { word: 'reverts', whom: dice.int(agents) }
  }
}

/** What becomes of a config at the agent of this index. */
export function fateOf(body: string, index: number): Fate {
  const [, word, whom] = /^# config \d+ (\w+)=(\w+)/.exec(body) ?? []
  if (word === undefined || whom === undefined) return 'works'
  return whom === 'all' || whom === String(index) ? (FATES[word] ?? 'works') : 'works'
}

/** The effective config that a supervisor reports: the config, with the uid of the agent and a port put in. */
export function effectiveOf(body: string, uid: string, port: number): string {
  const dashed = uid.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return [
    body === '' ? 'receivers: { otlp: {} }\nexporters: { debug: {} }' : body.trimEnd().replace(/^#.*\n/, ''),
    'extensions:',
    `  opamp: { instance_uid: ${dashed}, ppid: ${port}, server: { ws: { endpoint: "ws://127.0.0.1:${port}/v1/opamp" } } }`,
    '',
  ].join('\n')
}
