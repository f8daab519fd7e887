import { WebSocket } from 'ws'
import type { BenchService } from '../bench/service.ts'
import { HELD_SERVICE, POD_SERVICE } from './fleet.ts'

/** People who look, push and ask for reports, for as long as the soak lasts. */
export interface SoakPeople {
  counts(): { logins: number; pushes: number; refused: number; frames: number; reads: number; held: number }
  stop(): void
}

const BROWSERS = 5
/** A login ends after a day of the service's clock, so people log in this often (ms of real time). */
const LOGIN_MS = 15_000
const PUSH_MS = 5_000
const READ_MS = 3_000
const EMAIL = 'bench@example.com'
const PASSWORD = 'a password of the bench'
const READS = [
  '/api/workloads',
  '/api/workloads?include_archived=true',
  '/api/alerts?include_resolved=true',
  '/api/audit/events',
]

/**
 * The same few configs are pushed again and again, so that what is stored by content does not grow. The last cannot be
 * run.
 */
const CONFIGS = [4_317, 4_319, 4_321].map(
  (port) => `receivers:
  otlp:
    protocols: {grpc: {endpoint: "0.0.0.0:${port}"}}
exporters:
  debug: {}
service:
  pipelines:
    traces: {receivers: [otlp], exporters: [debug]}
`,
)

interface Listed {
  id: string
  display_name: string
  accepts_remote_config: boolean
  status: string
  fingerprint_source: string
  current_config_push?: { status: string; rollout_id?: string }
}

const isHeld = ({ display_name, fingerprint_source }: Listed): boolean =>
  display_name === HELD_SERVICE && fingerprint_source === 'k8s'

/** The first stage dwells for longer than the soak lasts. */
const LONG_STAGES = [{ percentage: 50, dwell_seconds: 6 * 86_400, gates: [] }, { percentage: 100 }]

/** Start people who use the service. Refusals are only counted, since the service may be busy or a workload gone. */
export function startPeople(service: BenchService): SoakPeople {
  const counts = { logins: 0, pushes: 0, refused: 0, frames: 0, reads: 0, held: 0 }
  let token = service.token()
  let isStopped = false
  const headers = () => ({ authorization: `Bearer ${token}` })
  const call = async (method: string, path: string, body?: unknown) => {
    const { status, text } = await service.call(method, path, body, headers())
    if (status >= 400) counts.refused++
    return { status, body: text === '' ? null : JSON.parse(text) }
  }
  const login = async () => {
    const { status, body } = await call('POST', '/api/auth/login', { email: EMAIL, password: PASSWORD })
    if (status !== 200) return
    token = body.token
    counts.logins++
  }
  const push = async (n: number) => {
    const { status, body } = await call('GET', '/api/workloads')
    if (status !== 200) return
    // Among them is the Deployment of the pods, whose instances are other ones each time.
    const able = (body as Listed[]).filter(
      ({ accepts_remote_config, status, display_name, fingerprint_source }) =>
        accepts_remote_config &&
        display_name !== HELD_SERVICE &&
        status !== 'disconnected' &&
        (display_name !== POD_SERVICE || fingerprint_source === 'k8s'),
    )
    const workload = able[n % able.length]
    if (workload === undefined) return
    if (await pushTo(workload.id, CONFIGS[n % CONFIGS.length]!)) counts.pushes++
  }
  const pushTo = async (workloadId: string, yaml: string, stages?: readonly object[]): Promise<boolean> => {
    const approvals = `/api/workloads/${workloadId}/config/approvals`
    const draft = {
      draft_yaml: yaml,
      target_group: 'single',
      target_env: 'test',
      comment: 'soak',
      retry_quarantined: true,
    }
    const created = await call('POST', approvals, draft)
    if (created.status !== 201) return false
    await call('POST', `${approvals}/${created.body.id}/approve`, { comment: 'fine' })
    const path = `${approvals}/${created.body.id}/push`
    return (await call('POST', path, { comment: 'go', ...(stages && { stages }) })).status === 202
  }
  /** Push in stages, of which the first takes longer than the soak, where that is not done; count how often it is open. */
  const hold = async () => {
    const { status, body } = await call('GET', '/api/workloads')
    const held = status === 200 ? (body as Listed[]).find((one) => isHeld(one)) : undefined
    if (held === undefined || held.status === 'disconnected') return
    const { current_config_push: push } = held
    if (push === undefined) await pushTo(held.id, CONFIGS[0]!, LONG_STAGES)
    else if (push.status === 'pending' && push.rollout_id !== undefined) counts.held++
  }
  const read = async (n: number) => {
    await call('GET', READS[n % READS.length]!)
    counts.reads++
  }
  const browsers = Array.from({ length: BROWSERS }, () =>
    openBrowser(service.url, headers, () => counts.frames++),
  )
  const loops = [
    repeat(LOGIN_MS, login, () => isStopped),
    repeat(PUSH_MS, push, () => isStopped),
    repeat(READ_MS, read, () => isStopped),
    repeat(PUSH_MS, hold, () => isStopped),
  ]
  return {
    counts: () => ({ ...counts }),
    stop() {
      isStopped = true
      for (const loop of loops) loop()
      for (const browser of browsers) browser()
    },
  }
}

/** Run `work` again and again, never twice at once. Returns a function that ends that. */
function repeat(everyMs: number, work: (n: number) => Promise<void>, isStopped: () => boolean): () => void {
  let n = 0
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    timer = setTimeout(async () => {
      await work(n++).catch((error: Error) => {
        if (!isStopped()) console.error(`soak: ${error.message}`)
      })
      if (!isStopped()) next()
    }, everyMs)
  }
  next()
  return () => clearTimeout(timer)
}

/**
 * Open a browser's socket, which reconnects with the newest login when its own has ended. Returns a function that
 * closes it.
 */
function openBrowser(url: string, headers: () => Record<string, string>, frame: () => void): () => void {
  let isStopped = false
  let socket: WebSocket
  const open = () => {
    if (isStopped) return
    socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { headers: headers() })
    socket.on('message', frame)
    socket.on('error', () => undefined)
    socket.on('close', () => setTimeout(open, 500))
  }
  open()
  return () => {
    isStopped = true
    socket.terminate()
  }
}
