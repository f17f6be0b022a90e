import DBus
import DBusTypes
import FocusContract
import Testing

@testable import FocusService

/// What may wait for one owner, and for all of them: taken at the limit, refused past it, taken again once there is room.
@Suite struct LoadTests {
  /// Fills up what may wait for all owners with `load` for each of `owners`; then `more` is past the limit.
  private static func fill(_ owners: Int, _ load: Load, more: Load) async throws {
    try await Stage.with { stage in
      let calls = try stage.ownerCalls()
      let names = try (0...owners).map { try BusName(":1.\($0 + 10)") }
      let last = names[owners]
      func refused(_ owner: BusName) -> Bool {
        do { try calls.enter(owner, more) } catch { return error.name == .limitsExceeded }
        return false
      }
      for (number, name) in names.dropLast().enumerated() {
        try calls.enter(name, load)
        if number < owners - 1 {
          #expect(refused(name), "past what may wait for one owner")
          try calls.enter(last, more)
          calls.leave(last, more)
        }
      }
      #expect(refused(last), "past what may wait for all")
      calls.leave(names[0], load)
      try calls.enter(last, more)
    }
  }

  @Test("16 MiB for one owner, 64 MiB for all") func bytes() async throws {
    try await Self.fill(4, Load(bytes: 16 << 20), more: Load(bytes: 1))
  }

  @Test("64 file descriptors for one owner, 512 for all") func descriptors() async throws {
    try await Self.fill(8, Load(descriptors: 64), more: Load(descriptors: 1))
  }
}
