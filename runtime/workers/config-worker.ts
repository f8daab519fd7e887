import { type ConfigJob, type ConfigJobResult, runConfigJob } from '../../lib/configs/jobs.ts'
import { readTemplate } from '../../lib/configs/render/template.ts'
import { rememberConfigs, rememberTexts } from '../../lib/configs/yaml/parse-memory.ts'
import { serveWorker } from '../../lib/workers/serve.ts'

/**
 * What is remembered of versions that are rendered, in UTF-16 units: a few of the usual length, since a campaign renders
 * one for each of its workloads.
 */
const VERSIONS_LENGTH_MAX = 100_000

const readConfig = rememberConfigs()
const readVersion = rememberTexts(readTemplate, VERSIONS_LENGTH_MAX)
serveWorker<ConfigJob, ConfigJobResult>((job) => runConfigJob(job, readConfig, readVersion))
