-- breaks older binaries: no
--
-- When an agent said goodbye: whoever decides next neither waits for it nor takes it for vanished. It counts where the agent
-- has not described itself since, which an older binary notes in seen_at alone.

alter table agent_workloads add column departed_at timestamptz;
