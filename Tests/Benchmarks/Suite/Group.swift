internal import TestSupport

/// What is measured together, on a bus of its own.
struct Group: Sendable {
  /// What a group needs to know.
  struct Context: Sendable {
    let programs: String
    let isQuick: Bool

    /// How often something is done: a tenth of it in a quick run, or `quick`.
    func count(_ full: Int, quick: Int? = nil) -> Int { isQuick ? quick ?? full / 10 : full }

    /// Runs `body` with a bus and the daemon on it, which has `environment` beside its usual one.
    /// - Throws: what `body` throws, and if they cannot be started.
    func withSession<Result>(
      _ environment: [String: String] = [:], _ body: (Session) async throws -> Result
    ) async throws -> Result {
      try await PrivateBus.with { bus in
        let session = try await Session(bus, programs, environment)
        do {
          let result = try await body(session)
          try await session.end()
          return result
        } catch {
          try await session.end()
          throw error
        }
      }
    }
  }

  let name: String
  /// Whether it is measured only where it is asked for.
  var isByHand = false
  let measure: @Sendable (Context, inout Report) async throws -> Void

  static let all = [
    Group(name: "stored", measure: measureStored),
    Group(name: "forwarding", measure: measureForwarding),
    Group(name: "subscribers", measure: measureSubscribers),
    Group(name: "fields", measure: measureFields),
    Group(name: "scale", measure: measureScale),
    Group(name: "start", measure: measureStart),
    Group(name: "memory", measure: measureMemory),
    Group(name: "kit", measure: measureKit),
    Group(name: "focusctl", measure: measureCommandLine),
    Group(name: "players", measure: measurePlayers),
    Group(name: "limits", measure: measureLimits),
    Group(name: "windows", isByHand: true, measure: measureWindows),
    Group(name: "accessibility", isByHand: true, measure: measureAccessibility),
    Group(name: "menus", isByHand: true, measure: measureMenus),
  ]
}
