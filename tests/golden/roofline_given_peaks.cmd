$TACHO roofline --stable --limit 4 --table points --format csv --peak-tflops fp32=1,tf32=2 --peak-gbps 20 flops.pt.trace.json.gz
