import { parse } from 'yaml'
import { isNestedTooDeeply } from '../../../lib/configs/yaml/tokens.ts'

/** One pipeline as its config names it. */
export interface PipelineLane {
  name: string
  receivers: string[]
  processors: string[]
  exporters: string[]
}

/** The pipelines of a config, and which ids are connectors. */
export interface PipelinePicture {
  lanes: PipelineLane[]
  connectors: Set<string>
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []

const LANES_MAX = 24

/** Read the pipelines of a config; null when there are none or it does not parse. */
export function readPipelines(yaml: string): PipelinePicture | null {
  let root: unknown
  try {
    if (isNestedTooDeeply(yaml)) return null
    root = parse(yaml, { maxAliasCount: 100, logLevel: 'silent' })
  } catch {
    return null
  }
  if (!isRecord(root) || !isRecord(root['service']) || !isRecord(root['service']['pipelines'])) return null
  const lanes = Object.entries(root['service']['pipelines'])
    .slice(0, LANES_MAX)
    .flatMap(([name, pipeline]) =>
      isRecord(pipeline)
        ? [
            {
              name,
              receivers: texts(pipeline['receivers']),
              processors: texts(pipeline['processors']),
              exporters: texts(pipeline['exporters']),
            },
          ]
        : [],
    )
  if (lanes.length === 0) return null
  const connectors = new Set(isRecord(root['connectors']) ? Object.keys(root['connectors']) : [])
  return { lanes, connectors }
}
