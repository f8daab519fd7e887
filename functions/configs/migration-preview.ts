import { MIGRATION_SOURCE_BYTES_MAX } from '../../lib/configs/migrate/preview.ts'
import { MigrationPreview, MigrationPreviewRequest } from '../../lib/wire/migration.ts'
import { MIGRATION_VENDORS } from '../../lib/wire/values.ts'
import { defineHttp, jsonBody, noParams, noQuery, signedIn } from '../../runtime/define.ts'
import { json, problem } from '../../runtime/reply.ts'

/** Turn a vendor's agent config into a collector draft. Nothing is stored, and no secret of it comes back. */
export default defineHttp({
  route: 'POST /api/configs/migration-assistant/preview',
  summary: "Convert a vendor's agent config into a collector draft.",
  access: signedIn('workload:validate_config', 'anywhere'),
  gate: null,
  params: noParams,
  query: noQuery,
  body: jsonBody(MigrationPreviewRequest, {
    bytesMax: MIGRATION_SOURCE_BYTES_MAX + 65_536,
    tooLargeText: 'request body exceeds migration preview limit',
    isStrict: false,
  }),
  replies: [{ status: 200, description: 'The draft and how it was made.', json: MigrationPreview }],
  errors: ['vendor-required', 'unsupported-vendor', 'source-required', 'source-too-large', 'server-busy'],
  async handle({ body }, ctx) {
    const name = body.vendor.trim()
    if (name === '') return problem('vendor-required')
    const vendor = MIGRATION_VENDORS.find((known) => known === name)
    if (vendor === undefined) return problem('unsupported-vendor')
    if (Buffer.byteLength(body.source) > MIGRATION_SOURCE_BYTES_MAX) return problem('source-too-large')
    if (body.source.trim() === '') return problem('source-required')
    const input = {
      vendor,
      source: body.source,
      labels: body.labels,
      otlpEndpoint: body.context?.otlp_endpoint ?? '',
    }
    const found = await ctx.configs.migrate(input, ctx.clock.now())
    return found.ok ? json(found.preview) : problem(found.code)
  },
})
