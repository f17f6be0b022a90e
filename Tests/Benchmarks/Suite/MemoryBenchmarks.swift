/// The daemon's memory: after some calls, and whether it grows with many.
///
/// Private is what it has written to; with shared pages is all that is resident, its program and the libraries, which
/// other processes have mapped too, counted in full.
func measureMemory(_ context: Group.Context, _ report: inout Report) async throws {
  let total = context.count(1_000_000, quick: 50_000)
  try await context.withSession { session in
    for id in ["one", "two"] { try session.register(id, "demo.Form.Number") }
    let mixed: [Call] = [
      .focus("one"), .focused(Call.properties, "Get", "ss", "demo.Form", "Number"),
      .focused(Call.properties, "Set", "ssn", "demo.Form", "Number"), .focused(Call.bindings, "ReadAll"),
      .register("s", "three", "demo.Form.Number"), .focused(Call.bindings, "Write", "sne", "demo.Form.Number"),
      Call("/org/focusd/Focus1/field/three", "org.focusd.Focus1.Field", "Unregister"),
      .focused("org.freedesktop.DBus.Introspectable", "Introspect"),
      .focused(Call.properties, "Get", "ss", "demo.Form", "Nothing"), .focus("two"),
    ]
    try session.caller.time([.focus("one")], 1)
    // One of the ten is refused: it reads what nobody publishes.
    try session.caller.time(mixed, 5_000, refusals: 500)
    let memory = Memory(of: session.daemon)
    report.add(.memory, "private: written to", memory.written / 1024, "MiB", .atMost(0.75))
    report.add(.memory, "with shared pages: all that is resident", memory.resident / 1024, "MiB", .atMost(8.5))
    report.add(.memory, "its share of what is resident", memory.proportional / 1024, "MiB")
    session.place(.pinned)
    try session.caller.flood(mixed, 5_000, window: 10, refusals: 500)
    let before = Memory(of: session.daemon).written
    let rate = try session.caller.flood(mixed, total - 10_000, window: 10, refusals: (total - 10_000) / 10)
    // Sixteen pages: as much as an allocator may have moved things about.
    report.add(
      .growth, "\(total) calls, private memory", Memory(of: session.daemon).written - before, "KiB", .atMost(64))
    report.add(.growth, "for comparison: calls a second, 10 in flight", rate)
  }
}
