import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Ranges and toggles of real toolkits: what the program wrote to a file counts.
@Suite struct ControlTests {
  /// Qt and GTK 4 tell no step, and Qt's times show themselves as numbers.
  @Test(arguments: TextTests.Kit.here) func eachStepOfASpinButtonCounts(_ kit: TextTests.Kit) async throws {
    try await RealDesktop.withTexts(kit.rawValue, script: "ranges", title: "Ranges") { desktop in
      try await desktop.waits(for: "Range.Value", .double(5))
      #expect(try await desktop.get("Range.Step") == .double(1))
      try await desktop.run("Range.Increment")
      try await desktop.holds("spin", "6")
      for _ in 1...3 { try await desktop.run("Range.Decrement") }
      try await desktop.holds("spin", "3")
      try await desktop.set("Range.Value", .double(50.3))
      try await desktop.holds("spin", "50")
      // It is so already, as near as can be.
      try await desktop.set("Range.Value", .double(50.2))
      guard kit.isQt else { return }
      try await desktop.tab()
      try await desktop.waits(for: "Range.Value", .double(0.5))
      try await desktop.run("Range.Increment")
      try await desktop.holds("decimal", "0.6")
      try await desktop.tab()
      // It goes off, to the third state, on: a write that asks for on does not stop in between.
      try await desktop.waits(for: "Toggle.Checked", .boolean(false))
      for (isOn, state) in [(true, "2"), (false, "0")] {
        try await desktop.set("Toggle.Checked", .boolean(isOn))
        try await desktop.holds("box", state)
      }
      try await desktop.tab()
      try await desktop.waits(for: "Range.Value", nil)
      #expect(try await desktop.get("Text.Content") != nil)
      try await desktop.xdotool("key", "Up")
      try await desktop.holds("time", "01:00:00")
      #expect(try await desktop.get("Range.Value") == nil)
    }
  }

  /// Qt tells nobody when an element that has focus is gone.
  @Test(arguments: TextTests.Kit.here.filter(\.isQt)) func anElementThatIsGoneHasNoFocus(_ kit: TextTests.Kit)
    async throws
  {
    try await RealDesktop.withTexts(kit.rawValue, script: "ranges", title: "Ranges") { desktop in
      try await desktop.waits(for: "Range.Value", .double(5))
      try await desktop.tab()
      try await desktop.waits(for: "Range.Value", .double(0.5))
      // At 1 the program deletes it.
      try await desktop.set("Range.Value", .double(1))
      _ = try? await desktop.set("Range.Value", .double(0.5))
      try await desktop.waits(for: "Range.Value", nil)
      #expect(try await desktop.get("Element.Name") == .string("Ranges"))
    }
  }
}
