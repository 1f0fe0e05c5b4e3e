"""The harness: scenarios, studies, engines, tracking, figures, leaderboards."""
