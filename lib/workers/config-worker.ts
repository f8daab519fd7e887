import { type ConfigJob, type ConfigJobResult, runConfigJob } from '../configs/jobs.ts'
import { serveWorker } from './serve.ts'

serveWorker<ConfigJob, ConfigJobResult>(runConfigJob)
