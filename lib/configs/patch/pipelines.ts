import { openGlob } from '../../selectors/glob.ts'
import { type ConfigObject, type ConfigValue, isObject, type PipelineSection } from '../yaml/value.ts'
import { DoesNotFit } from './does-not-fit.ts'

/** A component put into pipelines, or taken out of them. Exactly one of `add` and `remove` is said. */
export interface PipelineEdit {
  /** Globs of the ids of pipelines, such as `traces*`. */
  pipelines: readonly string[]
  role: PipelineSection
  add?: string
  remove?: string
  /** Next to which component it is added; at the end without either. */
  before?: string
  after?: string
}

/** The config with its pipelines edited; one that needs no edit stays as it is. Throws `DoesNotFit`. */
export function editPipelines(root: ConfigObject, edit: PipelineEdit): ConfigObject {
  const service = root['service']
  const pipelines = isObject(service) ? service['pipelines'] : undefined
  if (!isObject(service) || !isObject(pipelines)) throw new DoesNotFit('there are no pipelines')
  const globs = edit.pipelines.map(openGlob)
  const ids = Object.keys(pipelines).filter((id) => globs.some((isFit) => isFit(id)))
  if (ids.length === 0) throw new DoesNotFit(`no pipeline is named ${edit.pipelines.join(' or ')}`)
  const edited = Object.fromEntries(
    Object.entries(pipelines).map(([id, pipeline]) => [
      id,
      ids.includes(id) ? editOne(id, pipeline, edit) : pipeline,
    ]),
  )
  if (edit.remove !== undefined && ids.every((id) => edited[id] === pipelines[id]))
    throw new DoesNotFit(`${edit.remove} is among the ${edit.role} of none of these pipelines`)
  return { ...root, service: { ...service, pipelines: edited } }
}

function editOne(id: string, pipeline: ConfigValue, edit: PipelineEdit): ConfigValue {
  if (!isObject(pipeline)) throw new DoesNotFit(`the pipeline ${id} is no mapping`)
  const list = pipeline[edit.role] ?? []
  if (!Array.isArray(list)) throw new DoesNotFit(`the ${edit.role} of the pipeline ${id} are no list`)
  const { add, remove } = edit
  if (remove !== undefined)
    return list.includes(remove)
      ? { ...pipeline, [edit.role]: list.filter((entry) => entry !== remove) }
      : pipeline
  if (add === undefined || list.includes(add)) return pipeline
  return { ...pipeline, [edit.role]: list.toSpliced(placeIn(id, list, edit), 0, add) }
}

function placeIn(id: string, list: readonly ConfigValue[], { before, after, role }: PipelineEdit): number {
  const neighbour = before ?? after
  if (neighbour === undefined) return list.length
  const at = list.indexOf(neighbour)
  if (at === -1) throw new DoesNotFit(`${neighbour} is not among the ${role} of the pipeline ${id}`)
  return before === undefined ? at + 1 : at
}
