import { createHash } from 'node:crypto'
import type { Dice } from '../time/dice.ts'

/** How an agent takes a config: `reverts` means that it goes back to what it ran before and only says so. */
export type Fate = 'works' | 'fails' | 'crashes' | 'hangs' | 'reverts'

const FATES: Record<string, Fate> = {
  fails: 'fails',
  crashes: 'crashes',
  hangs: 'hangs',
  reverts: 'reverts',
}

/** Who takes a config badly, and how. */
interface Mischief {
  word: keyof typeof FATES
  whom: 'all' | number
}

/** The configs of a world. Each says in its first line how its agents will fare with it. */
export class SimConfigs {
  readonly #dice: Dice
  readonly #bodies = new Map<string, string>()

  constructor(dice: Dice) {
    this.#dice = dice
  }

  body(hash: string): string {
    return this.#bodies.get(hash) ?? ''
  }

  /** Make one up, or take one from before: most are good, some are bad for all or for one. */
  make(agents: number, hasReverts: boolean): string {
    const dice = this.#dice
    if (this.#bodies.size > 0 && dice.chance(0.25)) return dice.pick([...this.#bodies.values()])
    const mischief = this.#makeMischief(agents, hasReverts)
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

  #makeMischief(agents: number, hasReverts: boolean): Mischief | null {
    const dice = this.#dice
    const kind = dice.next()
    if (kind < 0.52) return null
    if (kind < 0.65) return { word: 'fails', whom: 'all' }
    if (kind < 0.77) return { word: 'fails', whom: dice.int(agents) }
    if (kind < 0.84) return { word: 'crashes', whom: 'all' }
    if (kind < 0.89) return { word: 'hangs', whom: dice.int(agents) }
    if (kind < 0.95 || !hasReverts) return { word: 'crashes', whom: dice.int(agents) }
    return { word: 'reverts', whom: dice.int(agents) }
  }
}

/** How the agent of this index takes a config. */
export function fateOf(body: string, index: number): Fate {
  const [, word, whom] = /^# config \d+ (\w+)=(\w+)/.exec(body) ?? []
  if (word === undefined || whom === undefined) return 'works'
  return whom === 'all' || whom === String(index) ? (FATES[word] ?? 'works') : 'works'
}

/** What a supervisor makes of a config for one agent: its uid, its process and its port are in it. */
export function effectiveOf(body: string, uid: string, port: number): string {
  const dashed = uid.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return [
    body === '' ? 'receivers: { otlp: {} }\nexporters: { debug: {} }' : body.trimEnd().replace(/^#.*\n/, ''),
    'extensions:',
    `  opamp: { instance_uid: ${dashed}, ppid: ${port}, server: { ws: { endpoint: "ws://127.0.0.1:${port}/v1/opamp" } } }`,
    '',
  ].join('\n')
}
