import { Graph, layout } from '@dagrejs/dagre'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { defineTexts, plural, say } from '../i18n/define.ts'
import { formatList, formatNumber } from '../i18n/format.ts'
import { componentKey } from '../logic/health.ts'
import { type PipelineLane, type PipelinePicture, readPipelines } from '../logic/pipelines.ts'
import { linesOfPath } from '../logic/yaml-lines.ts'

const pipelineTexts = defineTexts({
  en: {
    kind: { receiver: 'receiver', processor: 'processor', exporter: 'exporter', connector: 'connector' },
    lane: (name: string, from: string, through: string, to: string) =>
      `${name}: from ${from}${through ? ` through ${through}` : ''} to ${to}.`,
    broken: 'The pipelines cannot be read from this config.',
    nothing: 'nothing',
    lines: (from: number, to: number) =>
      from === to ? `line ${formatNumber(from)}` : `lines ${formatNumber(from)} to ${formatNumber(to)}`,
    sick: (count: number, isPart: boolean) => `▲ ${formatNumber(count)}${isPart ? '+' : ''}`,
    failing: (key: string, count: number, isPart: boolean) =>
      `${key} is unhealthy on ${isPart ? 'at least ' : ''}${formatNumber(count)} ${plural(count, 'instance', 'instances')}.`,
  },
  fr: {
    kind: { receiver: 'récepteur', processor: 'processeur', exporter: 'exporteur', connector: 'connecteur' },
    lane: (name: string, from: string, through: string, to: string) =>
      `${name} : de ${from}${through ? ` par ${through}` : ''} vers ${to}.`,
    broken: 'Les pipelines ne se lisent pas dans cette config.',
    nothing: 'rien',
    lines: (from: number, to: number) =>
      from === to ? `ligne ${formatNumber(from)}` : `lignes ${formatNumber(from)} à ${formatNumber(to)}`,
    sick: (count: number, isPart: boolean) => `▲ ${formatNumber(count)}${isPart ? '+' : ''}`,
    failing: (key: string, count: number, isPart: boolean) =>
      `${key} est en défaut sur ${isPart ? 'au moins ' : ''}${formatNumber(count)} ${plural(count, 'instance', 'instances')}.`,
  },
})

/** How many unhealthy instances complain of what, by `componentKey`. */
interface Sick {
  failing: ReadonlyMap<string, number>
  /** Others are unhealthy too, and were not asked: the counts are at least. */
  isPart: boolean
}

type Kind = 'receiver' | 'processor' | 'exporter' | 'connector'

interface Box {
  id: string
  kind: Kind
  x: number
  y: number
  width: number
}

interface LaidOutLane {
  name: string
  boxes: Map<string, Box>
  paths: string[]
  top: number
  height: number
}

const BOX_HEIGHT = 34
/** Half of a border stands outside its box. */
const STROKE = 2
const LANE_GAP = 22
const LANE_TITLE = 22
const MARGIN = 4

const widthOf = (id: string) => Math.max(92, Math.min(220, id.length * 7.3 + 22))

function listBoxes(lane: PipelineLane, connectors: ReadonlySet<string>) {
  const toKind = (id: string, kind: Kind): Kind => (connectors.has(id) ? 'connector' : kind)
  return [
    ...lane.receivers.map((id) => ({ key: `r:${id}`, id, kind: toKind(id, 'receiver') })),
    ...lane.processors.map((id, at) => ({ key: `p${at}:${id}`, id, kind: 'processor' as const })),
    ...lane.exporters.map((id) => ({ key: `e:${id}`, id, kind: toKind(id, 'exporter') })),
  ]
}

function listEdges(lane: PipelineLane): [string, string][] {
  const chain = lane.processors.map((id, at) => `p${at}:${id}`)
  const edges: [string, string][] = []
  const receivers = lane.receivers.map((id) => `r:${id}`)
  const exporters = lane.exporters.map((id) => `e:${id}`)
  const first = chain[0]
  const last = chain.at(-1)
  if (first === undefined || last === undefined)
    return receivers.flatMap((from) => exporters.map((to): [string, string] => [from, to]))
  for (const from of receivers) edges.push([from, first])
  for (const [at, from] of chain.entries())
    if (chain[at + 1] !== undefined) edges.push([from, chain[at + 1]!])
  for (const to of exporters) edges.push([last, to])
  return edges
}

/** A calm curve from the right of one box to the left of another. */
function curve(from: Box, to: Box, dy = 0): string {
  const x1 = from.x + from.width
  const y1 = from.y + BOX_HEIGHT / 2
  const y2 = to.y + BOX_HEIGHT / 2 + dy
  const bend = Math.max(16, (to.x - x1) / 2)
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${to.x - bend} ${y2} ${to.x} ${y2}`
}

/** Give the boxes of one column their places anew, in the order of `rankOf`. */
function reorder(boxes: ReadonlyMap<string, Box>, prefix: string, rankOf: (box: Box) => number): void {
  const column = [...boxes].filter(([key]) => key.startsWith(prefix)).map(([, box]) => box)
  const places = column.map(({ y }) => y).sort((a, b) => a - b)
  const sorted = [...column].sort((a, b) => rankOf(a) - rankOf(b) || a.y - b.y)
  for (const [at, box] of sorted.entries()) box.y = places[at] ?? box.y
}

function layOutLane(lane: PipelineLane, connectors: ReadonlySet<string>, top: number): LaidOutLane {
  const graph = new Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 10, ranksep: 44, marginx: MARGIN, marginy: 0 })
  graph.setDefaultEdgeLabel(() => ({}))
  const wanted = listBoxes(lane, connectors)
  for (const { key, id } of wanted) graph.setNode(key, { width: widthOf(id), height: BOX_HEIGHT })
  const edges = listEdges(lane)
  for (const [from, to] of edges) graph.setEdge(from, to)
  layout(graph)
  const boxes = new Map<string, Box>()
  let height = BOX_HEIGHT
  for (const { key, id, kind } of wanted) {
    const node = graph.node(key) as { x: number; y: number; width: number }
    boxes.set(key, {
      id,
      kind,
      width: node.width,
      x: node.x - node.width / 2,
      y: top + LANE_TITLE + node.y - BOX_HEIGHT / 2,
    })
    height = Math.max(height, node.y + BOX_HEIGHT / 2)
  }
  // Connectors lie where their bridge leaves: out at the bottom of a lane, in at its top.
  reorder(boxes, 'e:', (box) => (box.kind === 'connector' ? 1 : 0))
  reorder(boxes, 'r:', (box) => (box.kind === 'connector' ? 0 : 1))
  const paths = edges.map(([from, to]) => curve(boxes.get(from)!, boxes.get(to)!))
  return { name: lane.name, boxes, paths, top, height: height + LANE_TITLE }
}

/** Where a connector leaves one lane and enters another. */
function listBridges(lanes: readonly LaidOutLane[], connectors: ReadonlySet<string>): string[] {
  const bridges: string[] = []
  for (const id of connectors) {
    for (const from of lanes) {
      const out = from.boxes.get(`e:${id}`)
      if (!out) continue
      for (const to of lanes) {
        const into = to === from ? undefined : to.boxes.get(`r:${id}`)
        if (!into) continue
        const isBelow = into.y > out.y
        const x1 = out.x + out.width / 2
        const y1 = isBelow ? out.y + BOX_HEIGHT : out.y
        const x2 = into.x + into.width / 2
        const y2 = isBelow ? into.y : into.y + BOX_HEIGHT
        const middle = (y1 + y2) / 2
        bridges.push(`M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`)
      }
    }
  }
  return bridges
}

function layOut(picture: PipelinePicture) {
  const lanes: LaidOutLane[] = []
  let top = 0
  for (const lane of picture.lanes) {
    const laidOut = layOutLane(lane, picture.connectors, top)
    lanes.push(laidOut)
    top += laidOut.height + LANE_GAP
  }
  const boxes = lanes.flatMap((lane) => [...lane.boxes.values()])
  const width = Math.max(...boxes.map((box) => box.x + box.width), 120) + MARGIN
  return {
    lanes,
    bridges: listBridges(lanes, picture.connectors),
    width,
    height: Math.max(top - LANE_GAP + STROKE, 40),
  }
}

function describe(picture: PipelinePicture, { failing, isPart }: Sick): string {
  const words = say(pipelineTexts)
  const names = (ids: string[]) => (ids.length > 0 ? formatList(ids) : words.nothing)
  const sick = [...failing].map(([key, count]) => words.failing(key, count, isPart))
  return [
    ...picture.lanes.map((lane) =>
      words.lane(
        lane.name,
        names(lane.receivers),
        lane.processors.length > 0 ? formatList(lane.processors) : '',
        names(lane.exporters),
      ),
    ),
    ...sick,
  ].join(' ')
}

/** The component that somebody has chosen in the picture. */
interface Chosen {
  id: string
  box: Box
  lane: string
}

const SECTIONS = {
  receiver: 'receivers',
  processor: 'processors',
  exporter: 'exporters',
  connector: 'connectors',
} as const

/** One component: how it is, and its lines of the config. */
function Part({ yaml, sick: { failing, isPart }, of }: { yaml: string; sick: Sick; of: Chosen }) {
  const words = say(pipelineTexts)
  const sick = failing.get(of.id) ?? 0
  const { first, lines } = linesOfPath(yaml, `${SECTIONS[of.box.kind]}.${of.box.id}`)
  return (
    <div class="stack tight" role="status">
      <p>
        <b>{words.kind[of.box.kind]}</b> <span class="mono">{of.box.id}</span>{' '}
        <span class="muted">{words.lines(first, first + lines.length - 1)}</span>
      </p>
      {sick > 0 && <p class="bad">{words.failing(of.id, sick, isPart)}</p>}
      <pre class="snippet">{lines.join('\n')}</pre>
    </div>
  )
}

/** A component in the picture; choosing it shows its lines, once more hides them. */
function ComponentBox({
  lane,
  box,
  of: { failing, isPart },
  chosen,
}: {
  lane: string
  box: Box
  of: Sick
  chosen: Signal<Chosen | null>
}) {
  const words = say(pipelineTexts)
  const id = componentKey(lane, box.kind, box.id)
  const sick = failing.get(id) ?? 0
  const choose = () => {
    chosen.value = chosen.value?.id === id ? null : { id, box, lane }
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: there are no buttons in a picture.
    <g
      class={sick > 0 ? 'x' : ''}
      role="button"
      // In SVG the case of a name counts.
      tabindex={0}
      aria-pressed={chosen.value?.id === id}
      onClick={choose}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        choose()
      }}
    >
      <title>{`${lane}: ${words.kind[box.kind]} ${box.id}${sick > 0 ? ` ${words.sick(sick, isPart)}` : ''}`}</title>
      <rect x={box.x} y={box.y} width={box.width} height={BOX_HEIGHT} rx="5" />
      <text class="k" x={box.x + 10} y={box.y + 14}>
        {words.kind[box.kind]}
        {sick > 0 && ` · ${words.sick(sick, isPart)}`}
      </text>
      <text x={box.x + 10} y={box.y + 27}>
        {box.id.length > 28 ? `${box.id.slice(0, 27)}…` : box.id}
      </text>
    </g>
  )
}

/** What stands beside a component that was brought into sight, in px. */
const BESIDE = 24

/** Bring the first component that fails into sight, where the picture is wider than its place. */
function useSickInSight(isAnySick: boolean) {
  const view = useRef<HTMLDivElement>(null)
  // Once: whoever scrolls afterwards is left alone. Only the picture scrolls, the page stays where it is.
  useEffect(() => {
    const sick = view.current?.querySelector('.x')
    if (!view.current || !sick) return
    const { left, right } = view.current.getBoundingClientRect()
    const box = sick.getBoundingClientRect()
    if (box.right > right) view.current.scrollLeft += box.right - right + BESIDE
    else if (box.left < left) view.current.scrollLeft -= left - box.left + BESIDE
  }, [isAnySick])
  return view
}

/** A picture of a config's pipelines, one lane each, and what fails in them. */
export function Pipelines({ yaml, ...sick }: { yaml: string } & Sick) {
  const words = say(pipelineTexts)
  const picture = useMemo(() => readPipelines(yaml), [yaml])
  const chosen = useSignal<Chosen | null>(null)
  const drawn = useMemo(() => (picture ? layOut(picture) : null), [picture])
  const view = useSickInSight(sick.failing.size > 0)
  if (picture === null || drawn === null) return <p class="muted">{words.broken}</p>
  const { width, height } = drawn
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <div class="pipe-view" ref={view} tabIndex={0}>
      {/* biome-ignore lint/a11y/useSemanticElements: a picture is no set of fields. */}
      <svg
        class="pipe"
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label={describe(picture, sick)}
        style={{ maxWidth: `${width}px`, minWidth: `${Math.min(width, 520)}px` }}
      >
        {drawn.bridges.map((path) => (
          <path key={path} class="bridge" d={path} />
        ))}
        {drawn.lanes.map((lane) => (
          <g key={lane.name}>
            <text class="lane" x={MARGIN} y={lane.top + 13}>
              {lane.name}
            </text>
            {lane.paths.map((path) => (
              <path key={path} d={path} />
            ))}
            {[...lane.boxes].map(([key, box]) => (
              <ComponentBox key={key} lane={lane.name} box={box} of={sick} chosen={chosen} />
            ))}
          </g>
        ))}
      </svg>
      {chosen.value && <Part yaml={yaml} sick={sick} of={chosen.value} />}
    </div>
  )
}
