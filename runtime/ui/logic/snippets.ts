/** The supervisor's own file that connects a managed collector to this service. */
export const supervisorSnippet = (host: string, port: string, isSecure: boolean): string => `# supervisor.yaml
server:
  endpoint: ${isSecure ? 'wss' : 'ws'}://${host}:${port}/v1/opamp
  # headers:
  #   Authorization: Bearer <OPAMP_SHARED_SECRET>
capabilities:
  accepts_remote_config: true
  reports_effective_config: true
  reports_remote_config: true
  reports_health: true
  reports_available_components: true
agent:
  executable: /usr/local/bin/otelcol
  description:
    identifying_attributes:
      service.name: my-collector
storage:
  directory: /var/lib/otelcol-supervisor
`

/** The part of a collector's config that makes it report here, read-only. */
export const extensionSnippet = (host: string, port: string, isSecure: boolean): string => `# collector config
extensions:
  opamp:
    server:
      ws:
        endpoint: ${isSecure ? 'wss' : 'ws'}://${host}:${port}/v1/opamp
        # headers:
        #   Authorization: Bearer <OPAMP_SHARED_SECRET>
service:
  extensions: [opamp]
`
